import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../sandbox/port.ts'
import { type ChildStore, newDataDir, runToItsEnd, startChildStore } from '../child-store.ts'
import { bodyFor, buy, eventually, until } from '../stories/requests.ts'
import { buyerAt } from './data-folder.ts'

let dataDir: string
let emptyDir: string
let store: ChildStore

beforeAll(async () => {
  dataDir = await newDataDir()
  emptyDir = await newDataDir()
  store = await startChildStore({ dataDir, env: { SANDBOX_OFFERS: '600' } })
})
afterAll(async () => {
  await store.stop()
  for (const folder of [dataDir, emptyDir]) await rm(folder, { recursive: true, force: true })
})

/** The command as an operator runs it, in a process of its own. */
const refunds = (...args: string[]) =>
  runToItsEnd(['src/commands/main.ts', 'refund', ...args], { DATA_DIR: dataDir })

/** Which store it is, and nothing else. */
const told = expect.stringMatching(/^Kiosk402: sandbox on Base Sepolia, database .*\n$/)

test('refunds of a running sandbox are stopped, shown, and started by an operator', async () => {
  const stopped = await refunds('stop', '--reason', 'Looking at a strange refund.')
  expect(stopped).toMatchObject({ code: 0, stderr: told })
  expect(stopped.stdout).toContain('Refunds are stopped')
  const ada = await buyerAt(store, dataDir)
  const before = await ada.balance()
  const { answer } = await buy(store, ada, 'topup', bodyFor('topup', 'FAIL'))
  const { orderId } = answer.body
  const shown = await eventually(
    () => refunds('status'),
    ({ stdout }) => stdout.includes(orderId) && stdout.includes('DUE'),
  )
  expect(shown).toMatchObject({ code: 0, stderr: told })
  expect(shown.stdout).toMatch(/STOPPED since .* by \S+: Looking at a strange refund\./)
  expect(shown.stdout).toMatch(new RegExp(`${orderId} +0.60 USDC  to ${ada.address}  DUE`))
  await eventually(
    async () => (await fetch(`${store.url}/metrics`)).text(),
    (page) => /kiosk402_refunds_stopped 1/.test(page),
  )
  expect(await ada.balance()).toBe(before - 600_000n)
  const retry = await refunds('retry', orderId)
  expect(retry).toMatchObject({ code: 1, stderr: told })
  expect(retry.stdout).toContain('its refund has not failed; it is DUE')

  const started = await refunds('start')
  expect(started).toMatchObject({ code: 0, stderr: told })
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  expect(await ada.balance()).toBe(before)
  expect((await refunds('status')).stdout).not.toContain(orderId)
})

test('a store that does not run or cannot be reached is named in one sentence', async () => {
  const run = (env: Record<string, string>) =>
    runToItsEnd(['src/commands/main.ts', 'refund', 'status'], env)
  const asleep = await run({ DATA_DIR: emptyDir })
  expect(asleep).toMatchObject({ code: 2, stdout: '' })
  expect(asleep.stderr).toMatch(/has no running store; start it first/)

  const databaseUrl = `postgres://ada:geheim@127.0.0.1:${await freePort()}/store`
  const away = await run({ DATA_DIR: dataDir, DATABASE_URL: databaseUrl })
  expect(away).toMatchObject({ code: 2, stdout: '' })
  expect(away.stderr).toMatch(/\nkiosk402 refund failed: .*ECONNREFUSED.*\n$/)
  expect(away.stderr).not.toContain('geheim')
})
