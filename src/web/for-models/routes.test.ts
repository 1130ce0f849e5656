import { expect, test } from 'vitest'
import { testApp } from '../../../test/fixtures/app.ts'
import { routeForModels } from './routes.ts'

async function skillOf(isSandbox: boolean): Promise<string> {
  const { app, deps } = testApp()
  const { site } = deps
  routeForModels(app, { site, networkName: 'Base', isSandbox, now: () => new Date() })
  return (await app.inject('/SKILL.md')).body
}

test('the skill names the faucet and the test offers only in a sandbox', async () => {
  expect(await skillOf(true)).toMatch(
    /https:\/\/kiosk\.example\/sandbox\/faucet[\s\S]*TEST-VOUCHER-OK/,
  )
  expect(await skillOf(false)).not.toMatch(/faucet|TEST-/)
})
