import { describe, expect, it } from 'vitest'
import type { CheckoutStore } from '../../src/checkouts/ports.ts'
import type { OrderId } from '../../src/lib/ids.ts'
import { type Usdc, usdc } from '../../src/lib/money.ts'
import type { Order } from '../../src/orders/order.ts'
import type { OrderStore, PayoutLimits } from '../../src/orders/ports.ts'
import { newOrderId } from '../doubles/ids.ts'
import { asked, expectWon, orderOnRecord } from './order-store-nodes.ts'
import { describeShares } from './refund-shares.ts'
import { describeReturnGrants } from './return-grants.ts'
import {
  failed,
  fulfilled,
  newHash,
  newX402Payment,
  paid,
  paymentFailed,
  pending,
  signed,
  unpayable,
} from './sample-orders.ts'
import { inTurn, newForEach } from './two-nodes.ts'

/** Payout limits without grants, as two nodes see them, with the orders that they apply to. */
export interface PayoutLimitsHarness {
  readonly orders: OrderStore
  readonly payoutLimits: PayoutLimits
  readonly other: PayoutLimits
  /** The checkouts with returns that they apply to. */
  readonly checkouts: CheckoutStore
  switchRefunds(stopped: boolean): Promise<void>
  /** Lets this much time pass for all grants. */
  pass(ms: number): Promise<void>
  /** The amounts of all grants, in any order. */
  granted(): Promise<readonly bigint[]>
  close(): Promise<void>
}

type Caps = { readonly hour: Usdc; readonly day: Usdc }

const minute = 60_000
const hour = 60 * minute

/** The contract of `PayoutLimits`. `start` returns a new one with these caps and without grants. */
export function describePayoutLimits(
  name: string,
  start: (caps: Caps) => Promise<PayoutLimitsHarness>,
): void {
  describe(`the payout limits in ${name}, with 50 an hour and 120 a day`, () => {
    const harness = newForEach(() => start({ hour: usdc(50n), day: usdc(120n) }))
    const allow = (id: OrderId) => harness().payoutLimits.allow(id)
    const grant = async (amount: bigint) => allow((await owed(harness(), amount)).id)

    describe('caps', () => describeCaps(harness, grant))
    describe('grants', () => describeGrants(harness, grant))
    describe('payers and clients', () => describeShares(harness))
    describe('orders', () => describeOwed(harness))
    describe('returns', () => describeReturnGrants(harness, grant))
  })
}

/** Puts an order of a new payer on record whose refund is due. */
function owed(harness: PayoutLimitsHarness, amount: bigint): Promise<Order> {
  const tender = { ...newX402Payment(), payer: `0x${newHash().slice(-40)}` }
  return orderOnRecord(harness.orders, failed(asked({ amount: usdc(amount), tender })))
}

/** Asks for a grant for the refund of a new order of this amount. */
export type Grant = (amount: bigint) => Promise<string>

function describeCaps(harness: () => PayoutLimitsHarness, grant: Grant): void {
  it('grants up to the cap of an hour, and not one unit more', async () => {
    expect([await grant(20n), await grant(30n), await grant(1n)]).toEqual([
      ...['granted', 'granted', 'hour_cap'],
    ])
  })

  it('counts a grant for an hour from when it was given, whatever the clock shows', async () => {
    await grant(30n)
    await harness().pass(40 * minute)
    await grant(20n)
    await harness().pass(20 * minute - 30_000)
    expect(await grant(1n)).toBe('hour_cap')
    await harness().pass(30_000)
    // Only the first grant is an hour old.
    expect([await grant(31n), await grant(30n)]).toEqual(['hour_cap', 'granted'])
  })

  it('grants up to the cap of a day, which counts on when the hour is over', async () => {
    for (let granted = 0; granted < 2; granted += 1) {
      expect(await grant(50n)).toBe('granted')
      await harness().pass(hour)
    }
    expect([await grant(21n), await grant(20n), await grant(1n)]).toEqual([
      ...['day_cap', 'granted', 'day_cap'],
    ])
    await harness().pass(22 * hour - 30_000)
    expect(await grant(1n)).toBe('day_cap')
    await harness().pass(30_000)
    expect(await grant(50n)).toBe('granted')
  })

  it('says of a refund above a cap that no waiting will do', async () => {
    expect([await grant(51n), await grant(50n)]).toEqual(['over_cap', 'granted'])
    expect(await grant(51n)).toBe('over_cap')
    expect(await harness().granted()).toEqual([50n])
  })

  it('lets smaller refunds pass while a larger one waits', async () => {
    await grant(40n)
    expect([await grant(11n), await grant(10n)]).toEqual(['hour_cap', 'granted'])
  })

  it('is not exceeded by two nodes that ask at once', async () => {
    const orders = await Promise.all(Array.from({ length: 16 }, () => owed(harness(), 9n)))
    const { payoutLimits, other } = harness()
    const said = await Promise.all(
      orders.map(({ id }, index) => (index % 2 ? payoutLimits : other).allow(id)),
    )
    // Five grants of 9 make 45; a sixth would make 54.
    expect(said.filter((answer) => answer === 'granted')).toHaveLength(5)
    expect(said.filter((answer) => answer === 'hour_cap')).toHaveLength(11)
    expect(await harness().granted()).toEqual([9n, 9n, 9n, 9n, 9n])
  })
}

function describeGrants(harness: () => PayoutLimitsHarness, grant: Grant): void {
  it('stay, and count once, however often and by whomever they are asked for', async () => {
    const { id } = await owed(harness(), 30n)
    const { payoutLimits, other } = harness()
    const said = await inTurn({ store: payoutLimits, other }, 16, (node) => node.allow(id))
    expect(new Set(said)).toEqual(new Set(['granted']))
    expect(await harness().granted()).toEqual([30n])
    expect([await grant(20n), await grant(1n)]).toEqual(['granted', 'hour_cap'])
    // Earlier grants stay valid when the cap is reached.
    expect(await payoutLimits.allow(id)).toBe('granted')
    await harness().pass(48 * hour)
    expect(await payoutLimits.allow(id)).toBe('granted')
    expect(await grant(50n)).toBe('granted')
  })

  it('are not given while refunds are stopped, not even to those who have one', async () => {
    const { id } = await owed(harness(), 10n)
    const { payoutLimits, other } = harness()
    await payoutLimits.allow(id)
    await harness().switchRefunds(true)
    expect([await payoutLimits.allow(id), await other.allow(id), await grant(5n)]).toEqual([
      ...['stopped', 'stopped', 'stopped'],
    ])
    expect(await harness().granted()).toEqual([10n])
    await harness().switchRefunds(false)
    expect([await other.allow(id), await grant(5n)]).toEqual(['granted', 'granted'])
  })

  it('last until the money is back, through steps that fail on the way', async () => {
    const order = await orderOnRecord(harness().orders, failed(asked({ amount: usdc(10n) })))
    const { orders, payoutLimits } = harness()
    await payoutLimits.allow(order.id)
    const refunding = order as ReturnType<typeof failed>
    const sent = expectWon(await orders.move(order, signed(refunding)))
    const stuck = expectWon(await orders.move(sent, unpayable(refunding)))
    expectWon(await orders.move(stuck, refunding))
    expect(await payoutLimits.allow(order.id)).toBe('granted')
    expect(await harness().granted()).toEqual([10n])
  })
}

function describeOwed(harness: () => PayoutLimitsHarness): void {
  it.each<[string, () => Order]>([
    ['whose payment is not known', () => pending()],
    ['whose payment failed', () => paymentFailed(pending())],
    ['that is paid', () => paid(pending())],
    ['that the supplier is asked for', () => asked()],
    ['that was delivered', () => fulfilled(asked())],
    ['whose payment may still vanish', () => ({ ...failed(asked()), settlement: 'SEEN' })],
    ['whose payment vanished', () => ({ ...failed(asked()), settlement: 'LOST' })],
  ])('grants nothing for an order %s', async (_, sample) => {
    const { id } = await orderOnRecord(harness().orders, { ...sample(), amount: usdc(10n) })
    await expect(harness().payoutLimits.allow(id)).rejects.toThrow('nothing is due')
    expect(await harness().granted()).toEqual([])
  })

  it('grants nothing for an order that does not exist', async () => {
    await expect(harness().payoutLimits.allow(newOrderId())).rejects.toThrow('nothing is due')
  })
}
