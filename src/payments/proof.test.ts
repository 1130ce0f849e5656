import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { usdc } from '../lib/money.ts'
import { type Expected, provesTransfer, type TokenLog } from './payment.ts'

const payer = '0xAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
const store = '0xBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB'
const thief = '0xCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCCC'
const nonce = `0x${'d'.repeat(64)}`
const otherNonce = `0x${'e'.repeat(64)}`
const expected: Expected = { from: payer, to: store, value: usdc('500000'), nonce }

type Used = Extract<TokenLog, { authorizer: string }>
type Transfer = Extract<TokenLog, { event: 'Transfer' }>

const used = (index: number, changes: Partial<Used> = {}): Used => ({
  event: 'AuthorizationUsed',
  authorizer: payer,
  nonce,
  index,
  ...changes,
})
const transfer = (index: number, changes: Partial<Transfer> = {}): Transfer => ({
  event: 'Transfer',
  from: payer,
  to: store,
  value: 500_000n,
  index,
  ...changes,
})
const cancelled = (index: number): TokenLog => ({
  event: 'AuthorizationCanceled',
  authorizer: payer,
  nonce,
  index,
})
const proves = (...logs: TokenLog[]) => provesTransfer(logs, expected)

describe('a payment is proven', () => {
  test('by its authorization and the transfer directly after it', () => {
    expect(proves(used(4), transfer(5))).toBe(true)
  })

  test('whatever the letter case and the order in which the logs are listed', () => {
    const lower = transfer(5, { from: payer.toLowerCase(), to: store.toLowerCase() })
    expect(proves(lower, used(4, { nonce: nonce.toUpperCase().replace('X', 'x') }))).toBe(true)
  })

  test('among other payments of the same transaction', () => {
    const others = [used(2, { authorizer: thief }), transfer(3, { from: thief }), transfer(9)]
    expect(proves(...others, used(4), transfer(5))).toBe(true)
  })
})

describe('nothing is proven', () => {
  test.each<[string, TokenLog[]]>([
    ['by no log', []],
    ['by the authorization alone', [used(4)]],
    ['by the transfer alone', [transfer(5)]],
    ['by a transfer before the authorization', [transfer(3), used(4)]],
    ['by a transfer further on', [used(4), transfer(6)]],
    ['by a transfer at the same place', [used(4), transfer(4)]],
    ['when the authorization was cancelled', [cancelled(4), transfer(5)]],
    ['by the same nonce of another payer', [used(4, { authorizer: thief }), transfer(5)]],
    ['by another nonce of the payer', [used(4, { nonce: otherNonce }), transfer(5)]],
    ['when it paid the payer itself', [used(4), transfer(5, { to: payer })]],
    ['when it paid somebody else', [used(4), transfer(5, { to: thief })]],
    ['when somebody else paid', [used(4), transfer(5, { from: thief })]],
    ['by an atom less', [used(4), transfer(5, { value: 499_999n })]],
    ['by an atom more', [used(4), transfer(5, { value: 500_001n })]],
    ['when another authorization comes next', [used(4), used(5, { nonce: otherNonce })]],
  ])('%s', (_, logs) => {
    expect(proves(...logs)).toBe(false)
  })

  test('when one call burns this nonce on the thief’s own purse beside the transfer of another order', () => {
    const trick = [used(4), transfer(5, { to: thief }), used(6, { nonce: otherNonce }), transfer(7)]
    expect(proves(...trick)).toBe(false)
    expect(provesTransfer(trick, { ...expected, nonce: otherNonce })).toBe(true)
  })
})

test('however authorizations and transfers are mixed, one transfer proves at most one of them', () => {
  const nonces = [nonce, otherNonce]
  const log = fc.oneof(
    fc.constantFrom(...nonces).map((used) => ({ used })),
    fc.constantFrom(store, thief).map((to) => ({ to })),
  )
  fc.assert(
    fc.property(fc.array(log, { maxLength: 8 }), (parts) => {
      const asked = new Set<string>()
      const logs = parts
        // A token accepts each nonce once.
        .filter((part) => 'to' in part || (!asked.has(part.used) && asked.add(part.used)))
        .map((part, index) =>
          'to' in part ? transfer(index, { to: part.to }) : used(index, { nonce: part.used }),
        )
      const proven = nonces.filter((nonce) => provesTransfer(logs, { ...expected, nonce }))
      const toStore = logs.filter((log) => log.event === 'Transfer' && log.to === store)
      expect(proven.length).toBeLessThanOrEqual(toStore.length)
    }),
    { numRuns: 1_000 },
  )
})
