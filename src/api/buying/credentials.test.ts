import {
  createSIWxPayload,
  encodeSIWxHeader,
  type SIWxPayload,
} from '@x402/extensions/sign-in-with-x'
import { type Hex, verifyMessage } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { Refusal } from '../../lib/refusal.ts'
import { createDigest } from '../../secrets/secrets.ts'
import type { SignInDeps } from '../operation.ts'
import { signedInWallet, signInRequired } from './credentials.ts'

const wallet = privateKeyToAccount(`0x${'17'.repeat(32)}`)
const stranger = privateKeyToAccount(`0x${'18'.repeat(32)}`)
const path = '/api/catalog/orders'
const ask = { path, description: 'Orders', statement: 'Show the orders.' }
const minute = 60_000

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-05T12:00:00Z') })
})

function doorman(changes: { url?: string; secret?: number } = {}) {
  const used = new Set<string>()
  const nonces = {
    useOnce: vi.fn(async (nonce: string) => !used.has(nonce) && !!used.add(nonce)),
    isUsed: async (nonce: string) => used.has(nonce),
  }
  const { url = 'https://store.example', secret = 1 } = changes
  const site = { name: '', description: '', logo: '', contact: '', acceptsCrypto: [], url }
  const deps: SignInDeps = {
    site,
    network: 'eip155:84532',
    nonces,
    nonceMark: createDigest([Buffer.alloc(32, secret)], 'sign-in-nonce'),
    verifyMessage: async ({ address, message, signature }) =>
      verifyMessage({ address: address as Hex, message, signature: signature as Hex }),
    now: () => new Date(),
  }
  return { deps, nonces }
}

/** What the store asks to be signed, as the client gets it. */
function challengeOf(deps: SignInDeps) {
  const required = signInRequired(deps, ask)
  const { extensions } = required as never as {
    extensions: { 'sign-in-with-x': { info: Record<string, string>; supportedChains: object[] } }
  }
  const { info, supportedChains } = extensions['sign-in-with-x']
  return { info: { ...info, ...supportedChains[0] } as never as SIWxPayload, required }
}

async function signed(deps: SignInDeps, changes: Partial<SIWxPayload> = {}): Promise<SIWxPayload> {
  const info = { ...challengeOf(deps).info, ...changes }
  return createSIWxPayload(info as never, wallet, info.uri)
}

const header = (payload: SIWxPayload) => encodeSIWxHeader(payload)

async function refusalOf(act: Promise<unknown>): Promise<string> {
  const error = await act.then(
    () => new Error('it was taken'),
    (error: unknown) => error,
  )
  if (!(error instanceof Refusal)) throw error
  expect(error.code).toBe('sign_in_invalid')
  return error.message
}

describe('a wallet is signed in', () => {
  test('for five minutes, by any node with the same key', async () => {
    const payload = await signed(doorman().deps)
    vi.setSystemTime(Date.now() + 5 * minute)
    expect(await signedInWallet(doorman().deps, header(payload))).toBe(wallet.address)
  })

  test.each([[undefined], ['']])('not by %j: nobody tries to', async (none) => {
    const { deps, nonces } = doorman()
    expect(await signedInWallet(deps, none)).toBeUndefined()
    expect(nonces.useOnce).not.toHaveBeenCalled()
  })
})

describe('a sign-in for one thing only', () => {
  test.each([
    ['another path', { ...ask, path: '/api/catalog/limits' }, 'for another address'],
    ['a path below it', { ...ask, path: `${path}/x` }, 'for another address'],
    ['another statement', { ...ask, statement: 'Lift all limits.' }, 'for something else'],
    ['no statement', { ...ask, statement: '' }, 'for something else'],
  ])('is refused for %s, and stays good for its own', async (_, other, why) => {
    const { deps } = doorman()
    const sent = header(await signed(deps))
    expect(await refusalOf(signedInWallet(deps, sent, other))).toContain(why)
    expect(await signedInWallet(deps, sent, ask)).toBe(wallet.address)
  })
})

describe('a sign-in is refused', () => {
  test('the second time', async () => {
    const { deps } = doorman()
    const sent = header(await signed(deps))
    await signedInWallet(deps, sent)
    expect(await refusalOf(signedInWallet(deps, sent))).toContain('its nonce was used before')
  })

  test('after five minutes, also when it claims to be fresh', async () => {
    const { deps } = doorman()
    const { nonce } = challengeOf(deps).info
    const old = await signed(deps, { nonce })
    vi.setSystemTime(Date.now() + 5 * minute + 1)
    await refusalOf(signedInWallet(deps, header(old)))
    const fresh = await signed(deps, { nonce })
    expect(await refusalOf(signedInWallet(deps, header(fresh)))).toContain('Nonce')
  })

  test.each([
    ['of another store', () => challengeOf(doorman({ secret: 2 }).deps).info.nonce],
    ['made up', () => 'a1'.repeat(50)],
    ['short', () => 'abcdefgh'],
    ['with a later time', (nonce: string) => `f${nonce.slice(1)}`],
    ['with another end', (nonce: string) => `${nonce.slice(0, -1)}${nonce.endsWith('0') ? 1 : 0}`],
    ['with something behind', (nonce: string) => `${nonce}0`],
  ])('for a nonce %s', async (_, nonceOf) => {
    const { deps, nonces } = doorman()
    const payload = await signed(deps, { nonce: nonceOf(challengeOf(deps).info.nonce) })
    await refusalOf(signedInWallet(deps, header(payload)))
    expect(nonces.useOnce).not.toHaveBeenCalled()
  })

  test('for another store’s domain or address', async () => {
    const { deps } = doorman()
    const evil = doorman({ url: 'https://evil.example' })
    expect(await refusalOf(signedInWallet(deps, header(await signed(evil.deps))))).toContain(
      'Domain',
    )
    const plain = doorman({ url: 'http://store.example' })
    expect(await refusalOf(signedInWallet(deps, header(await signed(plain.deps))))).toContain('URI')
  })

  test.each<[string, Partial<SIWxPayload>]>([
    ['the wallet', { address: stranger.address }],
    ['the statement', { statement: 'Give me everything.' }],
    ['the end', { expirationTime: '2030-01-01T00:00:00.000Z' }],
    ['the resources', { resources: ['https://store.example/other'] }],
    ['the chain', { chainId: 'eip155:1' }],
    ['the chain family', { chainId: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp', type: 'ed25519' }],
    ['the version', { version: '2' }],
    ['the signature', { signature: `0x${'12'.repeat(65)}` }],
    ['the form of the signature', { signature: 'mine' }],
    ['the form of the wallet', { address: '0x12' }],
    ['the form of the chain', { chainId: 'eip155:x' }],
    ['the form of the start', { issuedAt: 'Mon Jan 05 2026 12:00:00 GMT' }],
    ['the form of the address', { uri: 'https://store.example/\n' }],
    ['the lines of the statement', { statement: 'one\ntwo' }],
  ])('when %s was changed after signing', async (_, changes) => {
    const { deps, nonces } = doorman()
    const payload = await signed(deps)
    await refusalOf(signedInWallet(deps, header({ ...payload, ...changes })))
    expect(nonces.useOnce).not.toHaveBeenCalled()
  })

  test('when the signature is somebody else’s, and the nonce stays good for its owner', async () => {
    const { deps } = doorman()
    const payload = await signed(deps)
    const forged = await createSIWxPayload({ ...payload } as never, stranger, payload.uri)
    await refusalOf(signedInWallet(deps, header({ ...forged, address: wallet.address })))
    expect(await signedInWallet(deps, header(payload))).toBe(wallet.address)
  })

  test('when the chain cannot tell', async () => {
    const { deps } = doorman()
    const silent = { ...deps, verifyMessage: () => Promise.reject(new Error('the node is silent')) }
    const message = await refusalOf(signedInWallet(silent, header(await signed(deps))))
    expect(message).not.toContain('silent')
  })

  test.each<[string, string | string[]]>([
    ['two headers', ['a', 'b']],
    ['a long one', 'a'.repeat(8_193)],
    ['no base64', '{}'],
    ['no JSON', Buffer.from('hello').toString('base64')],
    ['an empty object', Buffer.from('{}').toString('base64')],
    ['a list', Buffer.from('[]').toString('base64')],
    ['null', Buffer.from('null').toString('base64')],
  ])('for %s', async (_, sent) => {
    expect(await refusalOf(signedInWallet(doorman().deps, sent))).toMatch(
      /^The SIGN-IN-WITH-X header is not accepted: /,
    )
  })
})
