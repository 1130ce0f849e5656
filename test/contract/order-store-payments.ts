import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type Order, paymentWatchMs, withPayout } from '../../src/orders/order.ts'
import { newOrderId, newPaymentId } from '../doubles/ids.ts'
import { anySigned } from './any-order.ts'
import { asked, expectWon, type Nodes, take } from './order-store-nodes.ts'
import {
  failed,
  fulfilled,
  newHash,
  paid,
  payer,
  paymentFailed,
  pending,
  refunded,
  signed,
  wayTo,
} from './sample-orders.ts'

export function describePayments(nodes: Nodes): void {
  it('gives back a signed refund as it was stored, field for field', async () => {
    await fc.assert(
      fc.asyncProperty(anySigned, async (any) => {
        const tender = { ...any.tender, nonce: newHash() }
        const fresh = { id: newOrderId(), paymentId: newPaymentId(), tender }
        const target: Order = { ...any, ...fresh }
        const due = withPayout({ ...any, ...fresh }, { state: 'DUE' })
        const order = await take(nodes, wayTo(due))
        await nodes().grant(order.id)
        const moved = expectWon(await nodes().store.move(order, target))
        expect(moved).toStrictEqual({ ...target, version: order.version + 1 })
        expect(await nodes().other.find(target.id)).toStrictEqual(moved)
      }),
      { numRuns: 30 },
    )
  })

  it('finishes a refund that was signed, once', async () => {
    const due = failed(asked())
    const order = await take(nodes, wayTo(due))
    await nodes().grant(order.id)
    const sent = expectWon(await nodes().store.move(order, signed(due)))
    const done = refunded(due)
    const [one, two] = await Promise.all([
      nodes().store.move(sent, done),
      nodes().other.move(sent, done),
    ])
    expect(one.won).not.toBe(two.won)
    expect(one.record).toMatchObject({ payout: done.payout })
  })

  it('gives the keys of a payment back that has failed, and only then', async () => {
    const first = pending()
    const opened = await take(nodes, [first], ['k1', 'k2'])
    const second = pending()
    expect((await nodes().other.open(second, ['k2'])).isNew).toBe(false)
    expectWon(await nodes().store.move(opened, paymentFailed(first)))
    expect(await nodes().other.findByKey(payer, 'k1')).toBeUndefined()
    expect(await nodes().other.hasKey(first.id, ['k1', 'k2'])).toBe(false)
    const again = await nodes().other.open(second, ['k2'])
    expect(again).toMatchObject({ isNew: true, order: { id: second.id } })
    // The payment itself still belongs to the order that failed.
    const same = await nodes().store.open(pending({ tender: first.tender }), ['k9'])
    expect(same).toMatchObject({ isNew: false, order: { id: first.id, state: 'PAYMENT_FAILED' } })
    expect(await nodes().store.findByKey(payer, 'k9')).toBeUndefined()
  })

  it('keeps the keys through every other move', async () => {
    for (const end of [fulfilled(asked()), failed(asked())]) {
      const { id } = await take(nodes, wayTo(end), [`key-of-${end.id}`])
      expect(await nodes().store.hasKey(id, [`key-of-${end.id}`])).toBe(true)
    }
    const first = pending()
    const seen = await take(nodes, [first, paid(first)], ['k'])
    // A payment that the chain dropped may still land, so it keeps its key.
    expectWon(await nodes().store.move(seen, first))
    expect(await nodes().store.hasKey(first.id, ['k'])).toBe(true)
  })

  it('frees no key when somebody else has moved the order on', async () => {
    const first = pending()
    await take(nodes, [first, paid(first)], ['k'])
    const late = await nodes().other.move(first, paymentFailed(first))
    expect(late.won).toBe(false)
    expect(await nodes().store.hasKey(first.id, ['k'])).toBe(true)
  })

  it('leaves an order alone for a while that was delivered and whose payment may vanish', async () => {
    const order = await take(nodes, wayTo({ ...fulfilled(asked()), settlement: 'SEEN' }))
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().pass(paymentWatchMs - 10_000)
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().pass(10_000)
    expect(await nodes().other.claimDue(10)).toEqual([order])
  })

  it('holds no lease on such an order, so a hint makes it due at once', async () => {
    const order = await take(nodes, wayTo({ ...fulfilled(asked()), settlement: 'SEEN' }))
    await nodes().other.hasten(order.id)
    expect(await nodes().other.claimDue(10)).toEqual([order])
    // The claim has a lease, like that of any other order.
    await nodes().store.hasten(order.id)
    expect(await nodes().store.claimDue(10)).toEqual([])
  })

  it('is done with a delivered order once its payment is final, or lost', async () => {
    for (const settlement of ['FINAL', 'LOST'] as const) {
      const delivered = { ...fulfilled(asked()), settlement: 'SEEN' } as const
      const order = await take(nodes, wayTo(delivered))
      expectWon(await nodes().store.move(order, { ...delivered, settlement }))
      await nodes().store.hasten(order.id)
    }
    await nodes().pass(2 * paymentWatchMs)
    expect(await nodes().other.claimDue(10)).toEqual([])
  })
}
