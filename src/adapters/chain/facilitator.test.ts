import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { networks } from '../../payments/networks.ts'
import type { X402Payment } from '../../payments/payment.ts'
import { type Facilitator, keyProblem, occasionally, type Submitted } from './facilitator.ts'

const days = 86_400_000
const landed: Submitted = { hash: `0x${'12'.repeat(32)}`, isSaidToHaveLanded: true }

/** Two facilitators that record what they are given, a clock, and the next answer of the hosted one. */
function scene() {
  const given: string[] = []
  const state = { now: 0, says: (): Submitted => landed }
  const noting = (name: string, settle: () => Submitted): Facilitator => ({
    verify: async () => ({ isValid: name === 'own' }),
    settle: async ({ nonce }) => {
      given.push(`${name} ${nonce}`)
      return settle()
    },
  })
  const own = noting('own', () => ({}))
  const hosted = noting('hosted', () => state.says())
  const facilitator = occasionally(own, hosted, {
    everyMs: 20 * days,
    now: () => new Date(state.now),
  })
  const pay = (nonce: string) => {
    const { id: network, usdc: asset } = networks.base
    return facilitator.settle({ network, asset, payer: '0x1', nonce } as X402Payment)
  }
  return { given, state, facilitator, pay }
}

test('hands over the first settlement, and the next one so many days after', async () => {
  const { given, state, pay } = scene()
  for (const [at, nonce] of [
    [0, 'a'],
    [1, 'b'],
    [20 * days - 1, 'c'],
    [20 * days, 'd'],
    [21 * days, 'e'],
  ] as const) {
    state.now = at
    await pay(nonce)
  }
  expect(given).toEqual(['hosted a', 'own b', 'own c', 'hosted d', 'own e'])
})

test('hands another one over after an hour when the last is not said to have landed', async () => {
  const { given, state, pay } = scene()
  state.says = () => ({ ...landed, isSaidToHaveLanded: false })
  for (const [at, nonce] of [
    [0, 'a'],
    [3_599_999, 'b'],
    [3_600_000, 'c'],
  ] as const) {
    state.now = at
    await pay(nonce)
  }
  expect(given).toEqual(['hosted a', 'own b', 'hosted c'])
})

test('submits what was handed over only after half a minute', async () => {
  const { given, state, pay } = scene()
  state.says = () => {
    throw new Error('502')
  }
  await expect(pay('a')).rejects.toThrow('502')
  state.now = 29_999
  expect(await pay('a')).toEqual({})
  expect(given).toEqual(['hosted a'])
  state.now = 30_000
  await pay('a')
  expect(given).toEqual(['hosted a', 'own a'])
  // From then on it is ours, and may be sent again at once.
  await pay('a')
  expect(given).toEqual(['hosted a', 'own a', 'own a'])
})

test('submits at once what the facilitator was never asked', async () => {
  const { given, state, pay } = scene()
  state.says = () => {
    const cause = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    throw new TypeError('fetch failed', { cause })
  }
  await pay('a')
  expect(given).toEqual(['hosted a', 'own a'])
})

test('checks every payment by itself', async () => {
  const { facilitator } = scene()
  expect(await facilitator.verify({} as X402Payment)).toEqual({ isValid: true })
})

const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
const halves = [jwk.d, jwk.x].map((half = '') => Buffer.from(half, 'base64url'))
const otherCurve = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey

test.each([
  ['an Ed25519 key', Buffer.concat(halves).toString('base64'), undefined],
  ['half of one', halves[0]?.toString('base64') ?? '', /neither PEM nor 64 bytes/],
  ['a key of another curve', otherCurve.export({ format: 'pem', type: 'pkcs8' }), /P-256/],
])('%s signs, or is told to be none', async (_, secret, why) => {
  const problem = await keyProblem('http://127.0.0.1:1', { id: 'key', secret: String(secret) })
  if (why) expect(problem).toMatch(why)
  else expect(problem).toBeUndefined()
})

test.each([
  [200, undefined],
  [401, 'the facilitator refuses it'],
  [403, 'the facilitator refuses it'],
  [503, undefined],
])('a key that the facilitator answers with %s: %s', async (status, problem) => {
  const server = createServer((_, response) => response.writeHead(status).end('{}'))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' })
  const secret = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  expect(await keyProblem(`http://127.0.0.1:${port}`, { id: 'key', secret })).toBe(problem)
  server.close()
})
