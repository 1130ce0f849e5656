import { describe, expect, it, test } from 'vitest'
import { newCheckoutId } from '../../../test/doubles/ids.ts'
import {
  ended,
  onRecord,
  opened,
  opening,
  payment,
  returning,
  stepping,
  wonCheckout,
} from '../../../test/fixtures/sample-checkouts.ts'
import {
  asked,
  failed,
  fulfilled,
  newHash,
  newX402Payment,
  orderOnRecord,
  paid,
  paymentFailed,
  pending,
  signed,
  signedFor,
} from '../../../test/fixtures/sample-orders.ts'
import { type CheckoutIn, returnReference } from '../../checkouts/checkout.ts'
import type { CheckoutId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import type { In, Order } from '../../orders/order.ts'
import { createPayoutLimits, readPayoutQueue, switchRefunds } from './payouts.ts'
import { inTurn, twoNodes } from './stores.fixture.ts'

const minute = 60_000
const hour = 60 * minute

const nodes = twoNodes((pool) => createPayoutLimits(pool, { hour: usdc(50n), day: usdc(120n) }))
const switchTo = (stopped: boolean) => switchRefunds(nodes().pool, { stopped, by: 'test' })

/** The amounts of all grants. */
async function granted(): Promise<readonly bigint[]> {
  const { rows } = await nodes().pool.query<{ amount: string }>('select amount from payout_grants')
  return rows.map(({ amount }) => BigInt(amount))
}

/** Puts an order of a new payer on record whose refund is due. */
function owed(amount: bigint): Promise<Order> {
  const payment = { ...newX402Payment(), payer: `0x${newHash().slice(-40)}` }
  return orderOnRecord(nodes().orders, failed(asked({ amount: usdc(amount), payment })))
}

/** Asks for a grant for the refund of a new order of this amount. */
async function grant(amount: bigint): Promise<string> {
  return nodes().store.allow((await owed(amount)).id)
}

describe('the caps of 50 an hour and 120 a day', () => {
  it('grants up to the cap of an hour, and not one unit more', async () => {
    expect([await grant(20n), await grant(30n), await grant(1n)]).toEqual([
      ...['granted', 'granted', 'hour_cap'],
    ])
  })

  it('counts a grant for an hour from when it was given, whatever the clock shows', async () => {
    await grant(30n)
    await nodes().pass(40 * minute)
    await grant(20n)
    await nodes().pass(20 * minute - 30_000)
    expect(await grant(1n)).toBe('hour_cap')
    await nodes().pass(30_000)
    // Only the first grant is an hour old.
    expect([await grant(31n), await grant(30n)]).toEqual(['hour_cap', 'granted'])
  })

  it('grants up to the cap of a day, which counts on when the hour is over', async () => {
    for (let granted = 0; granted < 2; granted += 1) {
      expect(await grant(50n)).toBe('granted')
      await nodes().pass(hour)
    }
    expect([await grant(21n), await grant(20n), await grant(1n)]).toEqual([
      ...['day_cap', 'granted', 'day_cap'],
    ])
    await nodes().pass(22 * hour - 30_000)
    expect(await grant(1n)).toBe('day_cap')
    await nodes().pass(30_000)
    expect(await grant(50n)).toBe('granted')
  })

  it('says of a refund above a cap that no waiting will do', async () => {
    expect([await grant(51n), await grant(50n)]).toEqual(['over_cap', 'granted'])
    expect(await grant(51n)).toBe('over_cap')
    expect(await granted()).toEqual([50n])
  })

  it('is not exceeded by two nodes that ask at once', async () => {
    const orders = await Promise.all(Array.from({ length: 16 }, () => owed(9n)))
    const { store, other } = nodes()
    const said = await Promise.all(
      orders.map(({ id }, index) => (index % 2 ? store : other).allow(id)),
    )
    // Five grants of 9 make 45; a sixth would make 54.
    expect(said.filter((answer) => answer === 'granted')).toHaveLength(5)
    expect(said.filter((answer) => answer === 'hour_cap')).toHaveLength(11)
    expect(await granted()).toEqual([9n, 9n, 9n, 9n, 9n])
  })
})

describe('grants', () => {
  it('stay, and count once, however often and by whomever they are asked for', async () => {
    const { id } = await owed(30n)
    const { store, other } = nodes()
    const said = await inTurn({ store, other }, 16, (node) => node.allow(id))
    expect(new Set(said)).toEqual(new Set(['granted']))
    expect(await granted()).toEqual([30n])
    expect([await grant(20n), await grant(1n)]).toEqual(['granted', 'hour_cap'])
    // Earlier grants stay valid when the cap is reached.
    expect(await store.allow(id)).toBe('granted')
    await nodes().pass(48 * hour)
    expect(await store.allow(id)).toBe('granted')
    expect(await grant(50n)).toBe('granted')
  })

  it('are not given while refunds are stopped, not even to those who have one', async () => {
    const { id } = await owed(10n)
    const { store, other } = nodes()
    await store.allow(id)
    await switchTo(true)
    expect([await store.allow(id), await other.allow(id), await grant(5n)]).toEqual([
      ...['stopped', 'stopped', 'stopped'],
    ])
    expect(await granted()).toEqual([10n])
    await switchTo(false)
    expect([await other.allow(id), await grant(5n)]).toEqual(['granted', 'granted'])
  })
})

describe('an order that is not given up', () => {
  it.each<[string, () => Order]>([
    ['whose payment is not known', () => pending()],
    ['whose payment failed', () => paymentFailed(pending())],
    ['that is paid', () => paid(pending())],
    ['that the supplier is asked for', () => asked()],
    ['that was delivered', () => fulfilled(asked())],
    ['whose payment may still vanish', () => ({ ...failed(asked()), settlement: 'SEEN' })],
    ['whose payment vanished', () => ({ ...failed(asked()), settlement: 'LOST' })],
  ])('grants nothing for an order %s', async (_, sample) => {
    const { id } = await orderOnRecord(nodes().orders, { ...sample(), amount: usdc(10n) })
    await expect(nodes().store.allow(id)).rejects.toThrow('nothing is due')
    expect(await granted()).toEqual([])
  })
})

describe('returns, which have caps of their own', () => {
  const records = () => ({ store: nodes().checkouts, orders: nodes().orders })
  /** Puts a return on record that is due. The invoice has 1,000 units and is worth `amount`. */
  const due = async (units: bigint, amount = 1_000n): Promise<CheckoutIn<'ENDED'>> => {
    const first = opening({ amount: usdc(amount) })
    const open = opened(first, { units: 1_000n })
    const over = returning(ended(open, [payment(units)]), units)
    return onRecord(records, first, open, over)
  }
  const allow = (id: CheckoutId, seq = 1) => nodes().store.allow(returnReference(id, seq))

  it('have caps as high as refunds of orders, and hold up none of them', async () => {
    expect(await allow((await due(45n)).id)).toBe('granted')
    const more = await due(6n)
    expect(await allow(more.id)).toBe('hour_cap')
    expect([await grant(50n), await grant(1n)]).toEqual(['granted', 'hour_cap'])
    expect((await granted()).toSorted()).toEqual([45n, 50n])
    await nodes().pass(hour)
    expect([await allow(more.id), await allow((await due(44n)).id)]).toEqual(['granted', 'granted'])
    await nodes().pass(hour)
    expect(await allow((await due(26n)).id)).toBe('day_cap')
    expect([await grant(50n), await allow((await due(25n)).id)]).toEqual(['granted', 'granted'])
  })

  it('are worth what their units stand for at the rate of the invoice, rounded up', async () => {
    await allow((await due(1n, 1n)).id)
    await allow((await due(999n, 2n)).id)
    await allow((await due(7n, 1_001n)).id)
    expect((await granted()).toSorted()).toEqual([1n, 2n, 8n])
  })

  it('are given for nothing but a return that is due', async () => {
    const failed = await due(10n)
    wonCheckout(await nodes().checkouts.move(failed, stepping(failed, 'FAILED')))
    const first = opening()
    const open = await onRecord(records, first, opened(first))
    for (const [id, seq] of [
      [failed.id, 1],
      [failed.id, 2],
      [open.id, 1],
      [newCheckoutId(), 1],
    ] as const) {
      await expect(allow(id, seq)).rejects.toThrow('nothing is due')
    }
    expect(await granted()).toEqual([])
  })
})

/** A recorded order whose refund is due. */
async function due(): Promise<In<'FULFILLMENT_FAILED'>> {
  const target = failed(asked())
  const { version } = await orderOnRecord(nodes().orders, target)
  return { ...target, version }
}

describe('a signed refund', () => {
  it('is not taken on record without a grant', async () => {
    const order = await due()
    const store = nodes().orders
    await expect(store.move(order, signed(order))).rejects.toThrow('its refund was not granted')
    expect(await store.find(order.id)).toEqual(order)
  })

  const wrongs: Readonly<Record<string, object>> = {
    'to somebody else': { to: `0x${'99'.repeat(20)}` },
    'of another amount': { amount: usdc(12_500_001n) },
    'of less': { amount: usdc(1n) },
    'to nobody': { to: undefined },
    'of nothing': { amount: undefined },
  }
  it.each(Object.entries(wrongs))('%s is not taken on record', async (_, wrong) => {
    const order = await due()
    await nodes().payoutLimits.allow(order.id)
    const store = nodes().orders
    const payout = { state: 'APPROVED', signed: { ...signedFor(order), ...wrong } } as const
    await expect(store.move(order, { ...order, payout })).rejects.toThrow('goes to the payer')
    expect((await store.move(order, signed(order))).won).toBe(true)
  })
})

test('the switch tells who stopped refunds and why, and every turn stays on record', async () => {
  const read = async () => (await readPayoutQueue(nodes().pool)).refundSwitch
  const stop = { stopped: true, reason: 'The key may have leaked.', by: 'ada@console' }
  await switchRefunds(nodes().pool, stop)
  expect(await read()).toMatchObject(stop)
  await switchRefunds(nodes().pool, { stopped: false, by: 'bob@console' })
  const then = { stopped: false, reason: null, by: 'bob@console' }
  expect(await read()).toMatchObject(then)
  const { rows } = await nodes().pool.query(
    'select *, changed_by as by from refund_switch order by turn',
  )
  expect(rows).toMatchObject([{ stopped: false }, stop, then])
})
