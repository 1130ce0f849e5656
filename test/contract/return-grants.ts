import { expect, it } from 'vitest'
import { type Checkout, type CheckoutIn, returnReference } from '../../src/checkouts/checkout.ts'
import type { CheckoutId } from '../../src/lib/ids.ts'
import { usdc } from '../../src/lib/money.ts'
import { newCheckoutId } from '../doubles/ids.ts'
import { onRecord, wonCheckout } from './checkout-store-nodes.ts'
import type { Grant, PayoutLimitsHarness } from './payout-limits.ts'
import {
  ended,
  opened,
  opening,
  ordered,
  payment,
  returning,
  stepping,
} from './sample-checkouts.ts'
import { inTurn } from './two-nodes.ts'

const hour = 3_600_000

/** The contract of payout limits of 50 an hour and 120 a day about returns, which are separate from refunds. */
export function describeReturnGrants(harness: () => PayoutLimitsHarness, grant: Grant): void {
  const records = () => ({ store: harness().checkouts, orders: harness().orders })
  /** Puts a return on record that is due. The invoice has 1,000 units and is worth `amount`. */
  const due = async (units: bigint, amount = 1_000n): Promise<CheckoutIn<'ENDED'>> => {
    const first = opening({ amount: usdc(amount) })
    const open = opened(first, { units: 1_000n })
    const over = returning(ended(open, [payment(units)]), units)
    return onRecord(records, first, open, over)
  }
  const allow = (id: CheckoutId, seq = 1) => harness().payoutLimits.allow(returnReference(id, seq))

  it('have caps as high as refunds of orders, and hold up none of them', async () => {
    expect(await allow((await due(45n)).id)).toBe('granted')
    const more = await due(6n)
    expect(await allow(more.id)).toBe('hour_cap')
    expect([await grant(50n), await grant(1n)]).toEqual(['granted', 'hour_cap'])
    expect((await harness().granted()).toSorted()).toEqual([45n, 50n])
    await harness().pass(hour)
    expect([await allow(more.id), await allow((await due(44n)).id)]).toEqual(['granted', 'granted'])
    await harness().pass(hour)
    expect(await allow((await due(26n)).id)).toBe('day_cap')
    expect([await grant(50n), await allow((await due(25n)).id)]).toEqual(['granted', 'granted'])
  })

  it('are worth what their units stand for at the rate of the invoice, rounded up', async () => {
    await allow((await due(1n, 1n)).id)
    await allow((await due(999n, 2n)).id)
    await allow((await due(7n, 1_001n)).id)
    expect((await harness().granted()).toSorted()).toEqual([1n, 2n, 8n])
  })

  it('above a cap no waiting will do', async () => {
    const { id } = await due(51n)
    expect([await allow(id), await allow(id)]).toEqual(['over_cap', 'over_cap'])
    expect(await harness().granted()).toEqual([])
  })

  it('stay granted, and count once, through steps that fail on the way', async () => {
    const begun = await due(30n)
    const { checkouts, payoutLimits, other } = harness()
    const both = { store: payoutLimits, other }
    const said = await inTurn(both, 16, (node) => node.allow(returnReference(begun.id, 1)))
    expect(new Set(said)).toEqual(new Set(['granted']))
    let checkout: Checkout = begun
    for (const step of ['APPROVED', 'FAILED', 'DUE', 'APPROVED'] as const) {
      checkout = wonCheckout(await checkouts.move(checkout, stepping({ ...begun }, step)))
      expect(await allow(begun.id)).toBe('granted')
    }
    await harness().pass(48 * hour)
    expect([await allow(begun.id), await grant(50n)]).toEqual(['granted', 'granted'])
    expect((await harness().granted()).toSorted()).toEqual([30n, 50n])
  })

  it('are each granted alone', async () => {
    const first = opening({ amount: usdc(1_000n) })
    const open = opened(first, { units: 1_000n })
    const paid = ordered(open, [payment(1_060n)])
    const both = returning(returning(paid, 40n), 20n)
    const { id } = await onRecord(records, first, open, both)
    expect([await allow(id, 1), await allow(id, 2), await allow(id, 1)]).toEqual([
      ...['granted', 'hour_cap', 'granted'],
    ])
  })

  it('are not exceeded by two nodes that ask at once', async () => {
    const ids = await Promise.all(Array.from({ length: 16 }, async () => (await due(9n)).id))
    const { payoutLimits, other } = harness()
    const said = await Promise.all(
      ids.map((id, index) => (index % 2 ? payoutLimits : other).allow(returnReference(id, 1))),
    )
    expect(said.filter((answer) => answer === 'granted')).toHaveLength(5)
    expect(said.filter((answer) => answer === 'hour_cap')).toHaveLength(11)
  })

  it('are not given while refunds are stopped, not even to those who have one', async () => {
    const given = await due(10n)
    await allow(given.id)
    const later = await due(5n)
    await harness().switchRefunds(true)
    expect([await allow(given.id), await allow(later.id)]).toEqual(['stopped', 'stopped'])
    await harness().switchRefunds(false)
    expect([await allow(given.id), await allow(later.id)]).toEqual(['granted', 'granted'])
  })

  it('are given for nothing but a return that is due', async () => {
    const failed = await due(10n)
    wonCheckout(await harness().checkouts.move(failed, stepping(failed, 'FAILED')))
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
    expect(await harness().granted()).toEqual([])
  })
}
