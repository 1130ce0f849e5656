import { expect, onTestFinished, test } from 'vitest'
import { newDataDir, runToItsEnd, startChildStore } from '../../test/child-store.ts'
import { freePort } from '../port.ts'
import { usdcText } from './purchases.ts'

test('buys one of each kind, gets its refunds, and finds that the money adds up', async () => {
  const store = await startChildStore({
    dataDir: await newDataDir(),
    env: { SANDBOX_OFFERS: '100' },
  })
  onTestFinished(async () => void (await store.stop()))
  const { code, stdout, stderr } = await runToItsEnd(['sandbox/demo/main.ts'], {
    STORE_URL: store.url,
  })
  expect([stderr, code]).toEqual(['', 0])
  expect(stdout).toContain('It adds up.')
  expect(stdout).toContain('REFUNDED')
})

test.each([
  [['--store', `http://127.0.0.1:${await freePort()}`], 'Start it with: npm start'],
  [['--store', 'localhost:8402'], '--store must be an http or https URL'],
  [['--stroe', 'http://a.example'], "'--stroe'"],
])('says what to do for %j', async (args, message) => {
  const { code, stderr } = await runToItsEnd(['sandbox/demo/main.ts', ...args], {})
  expect([code, stderr]).toEqual([1, expect.stringContaining(message)])
})

test('an amount is written with all that it has', () => {
  expect([500_000n, 999_123_456n, 1n].map(usdcText)).toEqual(['0.50', '999.123456', '0.000001'])
})
