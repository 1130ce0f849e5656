import { describe, expect, test } from 'vitest'
import { newOrder, noBudgets, orderWorld } from '../../test/doubles/orders.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  paid,
  paymentFailed,
  pending,
  refunded,
  unpayable,
} from '../../test/fixtures/sample-orders.ts'
import { advance } from './advance.ts'
import { type Order, type Refunding, withPayout } from './order.ts'
import { claimRefund } from './refund.ts'

const claim = { key: 'k'.repeat(64), bodyHash: 'b'.repeat(64) }

/** A store that has this order on record. */
async function holding(order: Order) {
  const world = orderWorld()
  const { order: opened } = await world.orders.open(newOrder(world.deps, { id: order.id }), [])
  const { record: stored } = await world.orders.move(opened, { ...order, version: opened.version })
  return { ...world, stored }
}

describe('a claim', () => {
  test.each([
    ['that is due', failed(fulfilling(paid(pending())))],
    ['that was paid', refunded(failed(fulfilling(paid(pending()))))],
  ])('reports a refund %s, and changes nothing', async (_, order) => {
    const { deps, stored, orders } = await holding(order)
    const writes = orders.history.length
    expect(await claimRefund(deps, stored, claim)).toEqual(stored)
    expect(await claimRefund(deps, stored, claim)).toEqual(stored)
    expect(orders.history).toHaveLength(writes)
  })

  test('starts a refund again that could not be paid, and leaves it to the sweep at once', async () => {
    const { deps, stored, orders } = await holding(unpayable(failed(fulfilling(paid(pending())))))
    expect(await claimRefund(deps, stored, claim)).toMatchObject({ payout: { state: 'DUE' } })
    expect(await orders.claimDue(1)).toMatchObject([{ id: stored.id }])
  })

  test('that comes twice at once starts it once, and does not end the other’s lease', async () => {
    const { deps, stored, orders } = await holding(unpayable(failed(fulfilling(paid(pending())))))
    const one = await claimRefund(deps, stored, claim)
    const [leased] = await orders.claimDue(1)
    const other = await claimRefund(deps, stored, claim)
    expect(other).toEqual(one)
    expect(leased?.id).toBe(stored.id)
    expect(await orders.claimDue(1)).toEqual([])
  })

  test('tries a refund once, however often it comes, and what fails as before rings no alarm', async () => {
    const { deps, stored, orders, script, reports } = await holding(
      unpayable(failed(fulfilling(paid(pending())))),
    )
    const { code, reason } = { code: 'payer_blacklisted', reason: 'the token refuses the payer' }
    script.paidBack = { outcome: 'blocked', code, reason }
    const tryNow = async (key: string) => {
      const claimed = await claimRefund(deps, await latest(), { ...claim, key })
      return claimed.payout?.state === 'DUE' ? advance(deps, claimed, 0) : claimed
    }
    const latest = async () => (await orders.find(stored.id)) as Refunding
    // The first fails for a reason that was not reported yet.
    for (const key of ['a', 'b', 'b', 'b']) {
      expect(await tryNow(key)).toMatchObject({ payout: { state: 'FAILED', code } })
    }
    expect(reports).toMatchObject([{ name: 'refund_failed', reason: code }])
    const tries = orders.history.filter((at) => 'payout' in at && at.payout?.state === 'DUE')
    expect(tries).toHaveLength(2)
    // A retry by an operator reports the failure again.
    const refused = await latest()
    await orders.move(refused, withPayout(refused, { state: 'DUE' }))
    await advance(deps, await latest(), 0)
    expect(reports).toHaveLength(2)
  })

  test('that the watch for late goods overtakes starts the refund all the same', async () => {
    const stuck = unpayable(failed(fulfilling(paid(pending()))))
    const { deps, stored, orders } = await holding({ ...stuck, supply: { state: 'OPEN' } })
    const overtaken: typeof orders.claimRefund = async (order, ...claimed) => {
      const use = await orders.claimRefund(order, ...claimed)
      const supply = { state: 'NONE' } as const
      await orders.move(stored, { ...(stored as Refunding), supply })
      return use
    }
    const raced = { ...deps, orders: { ...orders, claimRefund: overtaken } }
    const due = { payout: { state: 'DUE' }, supply: { state: 'NONE' } }
    expect(await claimRefund(raced, stored, claim)).toMatchObject(due)
    expect(await orders.find(stored.id)).toMatchObject(due)
    expect(await orders.claimDue(1)).toMatchObject([{ id: stored.id }])
  })

  test('above its budgets is refused, and changes nothing', async () => {
    const { deps, stored, orders } = await holding(unpayable(failed(fulfilling(paid(pending())))))
    const budgets = { ...noBudgets, client: { refund_claims: 0 } }
    const writes = orders.history.length
    const asked = claimRefund({ ...deps, budgets }, stored, { ...claim, client: '192.0.2.1' })
    await expect(asked).rejects.toMatchObject({
      code: 'budget_spent',
      details: { charged: 'yes', extra: { budget: 'refund_claims', whose: 'client' } },
    })
    expect(orders.history).toHaveLength(writes)
  })

  test('of the owner goes on where strangers have used up those of the order', async () => {
    const { deps, stored } = await holding(unpayable(failed(fulfilling(paid(pending())))))
    const budgets = { ...noBudgets, client: { refund_claims: 1 }, order: { refund_claims: 0 } }
    const claimBy = (isOwn: boolean, key: string) =>
      claimRefund({ ...deps, budgets }, stored, {
        ...{ ...claim, key, client: '192.0.2.1' },
        isOwn: async () => isOwn,
      })
    await expect(claimBy(false, 'a')).rejects.toMatchObject({
      details: { extra: { whose: 'order' } },
    })
    expect(await claimBy(true, 'a')).toMatchObject({ payout: { state: 'DUE' } })
    await expect(claimBy(true, 'b')).rejects.toMatchObject({
      details: { extra: { whose: 'client' } },
    })
  })

  test('with a used key and another body is refused, and the buyer is told of the charge', async () => {
    const { deps, stored } = await holding(failed(fulfilling(paid(pending()))))
    await claimRefund(deps, stored, claim)
    const other = claimRefund(deps, stored, { ...claim, bodyHash: 'c'.repeat(64) })
    await expect(other).rejects.toMatchObject({
      code: 'idempotency_conflict',
      details: { charged: 'yes' },
    })
  })

  test.each<[string, Order, string]>([
    ['of a payment on its way', pending(), 'unknown'],
    ['of a payment that failed', paymentFailed(pending()), 'no'],
    ['of an order that was just paid', paid(pending()), 'yes'],
    ['while the goods may come', fulfilling(paid(pending())), 'yes'],
    ['of goods that came', fulfilled(fulfilling(paid(pending()))), 'yes'],
  ])('%s is refused with the rule, and its key stays unused', async (_, order, charged) => {
    const { deps, stored } = await holding(order)
    await expect(claimRefund(deps, stored, claim)).rejects.toMatchObject({
      code: 'not_refundable',
      message: expect.stringContaining('a code that was issued is not refundable'),
      details: { charged, extra: { state: order.state, refund_rule: expect.any(String) } },
    })
    const other = { ...claim, bodyHash: 'anything' }
    expect(await deps.orders.claimRefund(stored, other, noBudgets)).toBe('fresh')
  })

  test('never sends the money elsewhere: the payer gets it', async () => {
    const world = orderWorld({ placed: { outcome: 'declined', code: 'X', reason: 'x' } })
    const { order } = await world.orders.open(newOrder(world.deps), [])
    const refunding = await advance(world.deps, order, 0)
    await claimRefund(world.deps, refunding, claim)
    const signed = world.orders.history.flatMap((at) =>
      'payout' in at && at.payout?.state === 'APPROVED' ? [at.payout.signed.to] : [],
    )
    expect(signed).toEqual([order.payment.payer])
  })
})
