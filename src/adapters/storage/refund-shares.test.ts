import { describe, expect, it } from 'vitest'
import { noBudgets } from '../../../test/doubles/orders.ts'
import {
  asked,
  failed,
  newX402Payment,
  orderOnRecord,
} from '../../../test/fixtures/sample-orders.ts'
import { usdc } from '../../lib/money.ts'
import type { Order } from '../../orders/order.ts'
import { createPayoutLimits } from './payouts.ts'
import { twoNodes } from './stores.fixture.ts'

const minute = 60_000
const hour = 60 * minute

const nodes = twoNodes((pool) => createPayoutLimits(pool, { hour: usdc(50n), day: usdc(120n) }))

/** The owner of an order: numbers for the wallet and, if known, the client. */
interface Hands {
  readonly wallet: number
  readonly client?: number
}

const of = (hands: number | Hands, amount: bigint, odd: Partial<Order> = {}) => {
  const { wallet, client }: Hands = typeof hands === 'number' ? { wallet: hands } : hands
  const tender = { ...newX402Payment(), payer: `0x${String(wallet).padStart(40, '0')}` }
  const target = { ...failed(asked({ amount: usdc(amount), tender })), ...odd } as Order
  const subjects = { payer: tender.payer, client: client === undefined ? undefined : `${client}` }
  return orderOnRecord(nodes().orders, target, { subjects, rules: noBudgets })
}
const allow = ({ id }: Order) => nodes().store.allow(id)
/** The answers to these refunds one after the other, while nobody else waits. */
const inTurn = async (...all: readonly (readonly [hands: number | Hands, amount: bigint])[]) => {
  const said: string[] = []
  for (const [hands, amount] of all) said.push(await allow(await of(hands, amount)))
  return said
}

describe('payers and clients', () => {
  it('are granted one refund at least, however large', async () => {
    const [large, other] = [await of(1, 45n), await of(2, 5n)]
    expect([await allow(large), await allow(other)]).toEqual(['granted', 'granted'])
    await nodes().pass(24 * hour)
    expect(await inTurn([1, 50n])).toEqual(['granted'])
  })

  it('leave half of the hour to those who had nothing, whether anybody waits or not', async () => {
    expect(await inTurn([1, 10n], [1, 15n], [1, 1n], [2, 25n])).toEqual([
      ...['granted', 'granted', 'payer_share', 'granted'],
    ])
  })

  it('leave half of the day to those who had nothing', async () => {
    for (const amount of [25n, 25n]) {
      expect(await inTurn([1, amount])).toEqual(['granted'])
      await nodes().pass(hour)
    }
    expect(await inTurn([1, 11n], [1, 10n], [2, 50n])).toEqual([
      ...['payer_share', 'granted', 'hour_cap'],
    ])
    await nodes().pass(hour)
    expect(await inTurn([1, 1n], [2, 50n])).toEqual(['payer_share', 'granted'])
  })

  it('count a client over all its wallets', async () => {
    const said = await inTurn(
      ...[1, 2, 3, 4].map((wallet) => [{ wallet, client: 7 }, 10n] as const),
      [{ wallet: 5, client: 8 }, 10n],
      [{ wallet: 6 }, 20n],
    )
    expect(said).toEqual([
      ...['granted', 'granted', 'payer_share', 'payer_share', 'granted', 'granted'],
    ])
  })
})

describe('payers and clients, while others wait,', () => {
  const long = { changedAt: new Date('2026-01-01T00:00:00Z') }

  it('leave room for one another: beyond a quarter of the hour a payer waits while others do', async () => {
    const greedy = await Promise.all([8n, 4n, 1n].map((amount) => of(1, amount)))
    const other = await of(2, 20n)
    const [first, second, third] = greedy as [Order, Order, Order]
    // A quarter of 50 is 12.5.
    expect([await allow(first), await allow(second)]).toEqual(['granted', 'granted'])
    expect(await allow(third)).toBe('payer_share')
    expect(await allow(other)).toBe('granted')
    expect(await allow(third)).toBe('granted')
  })

  it('wait behind whoever has waited for an hour and would not fit any more', async () => {
    const first = await of(1, 30n, long)
    const large = await of(2, 21n)
    const small = await of(3, 20n)
    expect([await allow(large), await allow(small)]).toEqual(['payer_share', 'granted'])
    expect(await allow(first)).toBe('granted')
  })

  it('leave room to others, which another wallet of the same client is not', async () => {
    const hands = (wallet: number) => ({ wallet, client: 7 })
    await of(hands(3), 20n)
    expect([await allow(await of(hands(1), 8n)), await allow(await of(hands(2), 8n))]).toEqual([
      ...['granted', 'granted'],
    ])
    await of({ wallet: 4 }, 20n)
    expect(await allow(await of(hands(5), 1n))).toBe('payer_share')
  })

  it('wait behind nobody who waits for a share of their own', async () => {
    expect(await allow(await of(1, 20n))).toBe('granted')
    const own = await of(1, 20n, long)
    expect([await allow(own), await allow(await of(2, 25n))]).toEqual(['payer_share', 'granted'])
  })

  it('wait behind nobody who has not waited for an hour yet', async () => {
    await of(1, 30n, { changedAt: new Date('2098-01-01T00:00:00Z') })
    const later = { changedAt: new Date('2098-01-01T00:00:01Z') }
    expect(await allow(await of(2, 21n, later))).toBe('granted')
  })

  it.each<[string, Partial<Order>]>([
    ['that is above the cap', { amount: usdc(51n) }],
    ['whose payment may still vanish', { settlement: 'SEEN' }],
  ])('wait for no refund %s', async (_, odd) => {
    await of(1, 30n, { ...odd, ...long })
    expect([await allow(await of(2, 8n)), await allow(await of(2, 17n))]).toEqual([
      ...['granted', 'granted'],
    ])
  })
})
