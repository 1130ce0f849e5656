import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Order } from '../../src/orders/order.ts'
import { paymentKeyOf } from '../../src/payments/payment.ts'
import type { Sealed } from '../../src/secrets/vault.ts'
import { newOrderId, newPaymentId } from '../doubles/ids.ts'
import { anyOrder } from './any-order.ts'
import { describeBudgets } from './budgets.ts'
import { asked, type Nodes, type OrderStoreHarness, take } from './order-store-nodes.ts'
import { describePayments } from './order-store-payments.ts'
import { describeFinding, describeKeeping } from './order-store-records.ts'
import { describeSupply } from './order-store-supply.ts'
import {
  failed,
  fulfilled,
  newHash,
  newX402Payment,
  paid,
  payer,
  paymentFailed,
  pending,
  unpayable,
  wayTo,
} from './sample-orders.ts'
import { describeSharesOfFloat } from './shares-of-float.ts'
import { inTurn, newForEach } from './two-nodes.ts'
import { describeLimits } from './wallet-limits.ts'

/** The contract of `OrderStore`. `start` returns a new, empty one each time. */
export function describeOrderStore(name: string, start: () => Promise<OrderStoreHarness>): void {
  describe(`the order store in ${name}`, () => {
    const nodes = newForEach(start)

    describe('opening', () => describeOpening(nodes))
    describe('moving', () => describeMoving(nodes))
    describe('payments', () => describePayments(nodes))
    describe('supply', () => describeSupply(nodes))
    describe('leases', () => describeLeases(nodes))
    describe('finding', () => describeFinding(nodes))
    describe('keeping', () => describeKeeping(nodes))
    describe('limits', () => describeLimits(nodes))
    describe('budgets', () => describeBudgets(nodes))
    describe('shares of the float', () => describeSharesOfFloat(nodes))
  })
}

function describeOpening(nodes: Nodes): void {
  it('gives one payment to one of many, on two nodes', async () => {
    const tender = newX402Payment()
    const opened = await inTurn(nodes(), 16, (node) => node.open(pending({ tender }), ['k']))
    const winners = opened.filter(({ isNew }) => isNew)
    expect(winners).toHaveLength(1)
    for (const { order } of opened) expect(order).toEqual(winners[0]?.order)
  })

  it('opens equal requests under one id once, however close they come, on two nodes', async () => {
    // As in the store, the ids are derived from the payment, and each request seals its recipient anew. In few rounds the requests really overlap.
    for (let round = 0; round < 60; round += 1) {
      const order = pending()
      const key = 'k'.repeat(round + 1)
      const own = (index: number) => ({ ...order, recipient: `v1.sealed.${index}` as Sealed })
      const opened = await inTurn(nodes(), 16, (node, index) => node.open(own(index), [key]))
      expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1)
      const won = own(opened.findIndex(({ isNew }) => isNew))
      for (const { order: stored } of opened) expect(stored).toEqual(won)
    }
  })

  it('knows a payment again whatever case its addresses are written in', async () => {
    const order = pending()
    await nodes().store.open(order, [])
    const shouted = { ...order.tender, payer: order.tender.payer.toUpperCase().replace('0X', '0x') }
    const again = await nodes().store.open(pending({ tender: shouted }), [])
    expect(again).toEqual({ isNew: false, order })
  })

  it('keeps the order of a key that comes with another payment, and takes nothing', async () => {
    const first = pending()
    await nodes().store.open(first, ['k1', 'k2'])
    const second = pending()
    const again = await nodes().store.open(second, ['k0', 'k2'])
    expect(again).toEqual({ isNew: false, order: first })
    expect(await nodes().store.find(second.id)).toBeUndefined()
    expect(await nodes().store.findByPayment(paymentKeyOf(second.tender))).toBeUndefined()
    expect(await nodes().store.findByKey(payer, 'k0')).toBeUndefined()
    expect((await nodes().store.open(second, ['k3'])).isNew).toBe(true)
  })

  it('gives one key to one of many payments, on two nodes', async () => {
    const keys = Array.from({ length: 500 }, (_, index) => `key-${index}`)
    // Opens the connections first, so that the attempts really overlap.
    await inTurn(nodes(), 32, (node, index) => node.findByKey(payer, `key-${index}`))
    const opened = await inTurn(nodes(), 16, (node, index) =>
      node.open(pending(), index % 2 ? keys : keys.toReversed()),
    )
    const winners = opened.filter(({ isNew }) => isNew)
    expect(winners).toHaveLength(1)
    for (const { order } of opened) expect(order).toEqual(winners[0]?.order)
    expect((await nodes().store.listByPayer(payer, { limit: 9, offset: 0 })).total).toBe(1)
  })

  it('lets another payer use the same key, and takes a key that is sent twice', async () => {
    await nodes().store.open(pending(), ['k'])
    const tender = { ...newX402Payment(), payer: `0x${'77'.repeat(20)}` }
    expect((await nodes().store.open(pending({ tender }), ['k', 'k'])).isNew).toBe(true)
  })
}

function describeMoving(nodes: Nodes): void {
  it('lets one of two movers win, and shows the other what is stored', async () => {
    const first = pending()
    await take(nodes, [first])
    const [one, two] = await Promise.all([
      nodes().store.move(first, paid(first)),
      nodes().other.move(first, paymentFailed(first)),
    ])
    expect(one.won).not.toBe(two.won)
    expect(one.record).toEqual(two.record)
    expect(await nodes().store.find(first.id)).toEqual(one.record)
  })

  it('counts the writes and refuses one that does not know the last', async () => {
    const first = pending()
    const order = await take(nodes, [first, paid(first)])
    expect(order.version).toBe(2)
    const stale = await nodes().store.move(first, paymentFailed(first))
    expect(stale).toEqual({ won: false, record: order })
  })

  it('throws for an order that was never opened', async () => {
    const order = pending()
    await expect(nodes().store.move(order, paid(order))).rejects.toThrow('never opened')
  })

  it('gives back what was stored, field for field', async () => {
    await fc.assert(
      fc.asyncProperty(anyOrder, async (any) => {
        const tender = { ...any.tender, nonce: newHash() }
        const target: Order = { ...any, id: newOrderId(), paymentId: newPaymentId(), tender }
        const way = wayTo(target)
        const moved = await take(nodes, way)
        expect(moved).toStrictEqual({ ...target, version: way.length })
        expect(await nodes().other.find(target.id)).toStrictEqual(moved)
      }),
      { numRuns: 60 },
    )
  })
}

function describeLeases(nodes: Nodes): void {
  it('keeps a new order from others until its lease ends', async () => {
    const { id } = await take(nodes, [pending()])
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().endLease(id)
    expect((await nodes().other.claimDue(10)).map((order) => order.id)).toEqual([id])
    expect(await nodes().store.claimDue(10)).toEqual([])
  })

  it('renews the lease with every move', async () => {
    const first = pending()
    const opened = await take(nodes, [first])
    await nodes().endLease(first.id)
    await nodes().store.move(opened, paid(first))
    expect(await nodes().other.claimDue(10)).toEqual([])
  })

  it('hands each order to one of two that claim at once', async () => {
    const orders = await Promise.all(Array.from({ length: 20 }, () => take(nodes, [pending()])))
    await Promise.all(orders.map((order) => nodes().store.release(order, 0)))
    const claims = await inTurn(nodes(), 8, (node) => node.claimDue(4))
    for (const claim of claims) expect(claim.length).toBeLessThanOrEqual(4)
    const rest = await nodes().store.claimDue(100)
    const taken = [...claims.flat(), ...rest].map(({ id }) => id)
    expect(taken.sort()).toEqual(orders.map(({ id }) => id).sort())
  })

  it('hands out what a worker broke off before what only waits, however long that is due', async () => {
    const waiting = await take(nodes, [pending()])
    await nodes().store.release(waiting, 0)
    const broken = await take(nodes, [pending()])
    await nodes().pass(1_000)
    await nodes().endLease(broken.id)
    expect(await nodes().other.claimDue(1)).toEqual([broken])
    expect(await nodes().other.claimDue(1)).toEqual([waiting])
  })

  it('makes a released order due when it said, or when it is hastened', async () => {
    const order = await take(nodes, [pending()])
    await nodes().store.release(order, 60_000)
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().store.hasten(order.id)
    expect(await nodes().other.claimDue(10)).toEqual([order])
    await nodes().other.release(order, 0)
    expect(await nodes().store.claimDue(10)).toEqual([order])
  })

  it('keeps a hint that comes while somebody works on the order', async () => {
    const order = await take(nodes, [pending()])
    await nodes().other.hasten(order.id)
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().store.release(order, 60_000)
    expect(await nodes().other.claimDue(10)).toEqual([order])
    await nodes().other.release(order, 60_000)
    expect(await nodes().other.claimDue(10)).toEqual([])
  })

  it('does not let a release end the lease of whoever moved the order on', async () => {
    const first = pending()
    await take(nodes, [first, paid(first)])
    await nodes().store.release(first, 0)
    expect(await nodes().other.claimDue(10)).toEqual([])
  })

  it('leaves finished orders alone, and takes up one whose refund is tried again', async () => {
    const asking = asked()
    await take(nodes, wayTo(fulfilled(asked())))
    const order = await take(nodes, wayTo(unpayable(failed(asking))))
    await nodes().store.hasten(order.id)
    await nodes().store.release(order, 0)
    expect(await nodes().store.claimDue(10)).toEqual([])
    const retried = await nodes().store.move(order, { ...failed(asking), version: order.version })
    await nodes().store.release(retried.record, 0)
    expect(await nodes().store.claimDue(10)).toEqual([retried.record])
  })
}
