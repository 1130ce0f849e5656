import { spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort } from '../../sandbox/port.ts'
import { plainEnvironment } from '../../sandbox/process.ts'
import { type ChildStore, newDataDir, startChildStore } from '../child-store.ts'
import { newBuyer } from '../stories/buyer.ts'
import { bodyFor, buy, eventually, get, until } from '../stories/requests.ts'

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
async function refunds(args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['src/commands/refunds.ts', ...args], {
    env: { ...plainEnvironment(), DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    output.out += chunk.toString()
  })
  child.stderr.on('data', (chunk: Buffer) => {
    output.err += chunk.toString()
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, ...output }
}

/** A buyer in the sandbox of the store, with its own money. */
async function buyer() {
  const { rpcUrl, usdc } = (await get(store.url, '/sandbox')).body
  const parts = { rpcUrl, usdc, keys: { minter: '0x' } }
  const made = await newBuyer(0n, parts)
  const faucet = await fetch(`${store.url}/sandbox/faucet`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ address: made.address }),
  })
  expect(faucet.ok).toBe(true)
  return made
}

test('refunds of a running sandbox are stopped, shown, and started by an operator', async () => {
  const stopped = await refunds(['stop', '--reason', 'Looking at a strange refund.'])
  expect(stopped).toMatchObject({ code: 0, err: '' })
  expect(stopped.out).toContain('Refunds are stopped')
  const ada = await buyer()
  const before = await ada.balance()
  const { answer } = await buy(store, ada, 'topup', bodyFor('topup', 'FAIL'))
  const { orderId } = answer.body
  const shown = await eventually(
    () => refunds(['status']),
    ({ out }) => out.includes(orderId) && out.includes('DUE'),
  )
  expect(shown).toMatchObject({ code: 0, err: '' })
  expect(shown.out).toMatch(/STOPPED since .* by .+@.+: Looking at a strange refund\./)
  expect(shown.out).toMatch(new RegExp(`${orderId} +0.60 USDC  to ${ada.address}  DUE`))
  await eventually(
    async () => (await fetch(`${store.url}/metrics`)).text(),
    (page) => /kiosk402_refunds_stopped 1/.test(page),
  )
  expect(await ada.balance()).toBe(before - 600_000n)
  const retry = await refunds(['retry', orderId])
  expect(retry).toMatchObject({ code: 1, err: '' })
  expect(retry.out).toContain('its refund has not failed; it is DUE')

  const started = await refunds(['start'])
  expect(started).toMatchObject({ code: 0, err: '' })
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  expect(await ada.balance()).toBe(before)
  expect((await refunds(['status'])).out).not.toContain(orderId)
})

test('a command line that says nothing is answered with what can be said', async () => {
  const { code, out, err } = await refunds(['halt'])
  expect([code, out]).toEqual([2, ''])
  expect(err).toContain('"halt" is not known')
  expect(err).toContain('Usage: npm run refunds -- <what>')
})

test('a store that does not run, or is somebody else’s, is said so in one sentence', async () => {
  const asleep = await refunds(['status'], { DATA_DIR: emptyDir })
  expect([asleep.code, asleep.out]).toEqual([1, ''])
  expect(asleep.err).toMatch(/has no running store; start it first/)

  const port = await freePort()
  const away = await refunds(['status'], {
    DATABASE_URL: `postgres://ada:geheim@127.0.0.1:${port}/store`,
  })
  expect([away.code, away.out]).toEqual([1, ''])
  expect(away.err).toMatch(/^The refunds command failed: .*ECONNREFUSED.*\n$/)
  expect(away.err).not.toContain('geheim')

  const half = await refunds(['status'], { MODE: 'live', DATA_DIR: '' })
  expect([half.code, half.out]).toEqual([1, ''])
  expect(half.err).toContain('DATABASE_URL is missing')
})
