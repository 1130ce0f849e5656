import * as fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { In, Order } from '../../src/orders/order.ts'
import type { OrderStore } from '../../src/orders/ports.ts'
import { paymentKeyOf } from '../../src/payments/payment.ts'
import type { OrderId } from '../../src/primitives/ids.ts'
import { newOrderId, newPaymentId } from '../../src/primitives/ids.ts'
import { anyOrder } from './any-order.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  newHash,
  newTender,
  paid,
  payer,
  paymentFailed,
  pending,
  refunded,
  unpayable,
  wayTo,
} from './sample-orders.ts'

/** One empty record of orders, as two nodes see it. */
export interface OrderStoreHarness {
  readonly store: OrderStore
  readonly other: OrderStore
  /** Lets the lease of this order run out now. */
  endLease(id: OrderId): Promise<void>
  close(): Promise<void>
}

const longAgo = new Date('2020-01-01')
const inAnHour = () => new Date(Date.now() + 3_600_000)

let nodes: OrderStoreHarness

/** What every `OrderStore` must do. `start` gives a new, empty one each time. */
export function describeOrderStore(name: string, start: () => Promise<OrderStoreHarness>): void {
  describe(`the order store in ${name}`, () => {
    beforeEach(async () => {
      nodes = await start()
    })
    afterEach(() => nodes.close())

    describe('opening', describeOpening)
    describe('moving', describeMoving)
    describe('leases', describeLeases)
    describe('finding', describeFinding)
    describe('keeping', describeKeeping)
  })
}

/** Opens the first order on the way and moves it on to the last. */
async function take(way: readonly Order[], keys: readonly string[] = []): Promise<Order> {
  const [first, ...rest] = way
  if (first?.state !== 'PAYMENT_PENDING') throw new Error('An order begins with its payment')
  let order: Order = (await nodes.store.open(first, keys)).order
  for (const next of rest) {
    const moved = await nodes.store.move(order, next)
    expect(moved.won).toBe(true)
    order = moved.order
  }
  return order
}

function asked(changes: Partial<In<'PAYMENT_PENDING'>> = {}): In<'FULFILLING'> {
  return fulfilling(paid(pending(changes)))
}

function describeOpening(): void {
  it('gives one payment to one of many, on two nodes', async () => {
    const tender = newTender()
    const attempts = Array.from({ length: 16 }, (_, index) =>
      (index % 2 === 0 ? nodes.store : nodes.other).open(pending({ tender }), ['k']),
    )
    const opened = await Promise.all(attempts)
    const winners = opened.filter(({ isNew }) => isNew)
    expect(winners).toHaveLength(1)
    for (const { order } of opened) expect(order).toEqual(winners[0]?.order)
  })

  it('knows a payment again whatever case its addresses are written in', async () => {
    const order = pending()
    await nodes.store.open(order, [])
    const shouted = { ...order.tender, payer: order.tender.payer.toUpperCase().replace('0X', '0x') }
    const again = await nodes.store.open(pending({ tender: shouted }), [])
    expect(again).toEqual({ isNew: false, order })
  })

  it('keeps the order of a key that comes with another payment, and takes nothing', async () => {
    const first = pending()
    await nodes.store.open(first, ['k1', 'k2'])
    const second = pending()
    const again = await nodes.store.open(second, ['k0', 'k2'])
    expect(again).toEqual({ isNew: false, order: first })
    expect(await nodes.store.find(second.id)).toBeUndefined()
    expect(await nodes.store.findByPayment(paymentKeyOf(second.tender))).toBeUndefined()
    expect(await nodes.store.findByKey(payer, 'k0')).toBeUndefined()
    expect((await nodes.store.open(second, ['k3'])).isNew).toBe(true)
  })

  it('gives one key to one of many payments, on two nodes', async () => {
    const attempts = Array.from({ length: 16 }, (_, index) =>
      index % 2 === 0
        ? nodes.store.open(pending(), ['k', 'l'])
        : nodes.other.open(pending(), ['l', 'k']),
    )
    const opened = await Promise.all(attempts)
    const winners = opened.filter(({ isNew }) => isNew)
    expect(winners).toHaveLength(1)
    for (const { order } of opened) expect(order).toEqual(winners[0]?.order)
    expect((await nodes.store.listByPayer(payer, { limit: 9, offset: 0 })).total).toBe(1)
  })

  it('lets another payer use the same key, and takes a key that is sent twice', async () => {
    await nodes.store.open(pending(), ['k'])
    const tender = { ...newTender(), payer: `0x${'77'.repeat(20)}` }
    expect((await nodes.store.open(pending({ tender }), ['k', 'k'])).isNew).toBe(true)
  })
}

function describeMoving(): void {
  it('lets one of two movers win, and shows the other what is stored', async () => {
    const first = pending()
    await take([first])
    const [one, two] = await Promise.all([
      nodes.store.move<Order>(first, paid(first)),
      nodes.other.move<Order>(first, paymentFailed(first)),
    ])
    expect(one.won).not.toBe(two.won)
    expect(one.order).toEqual(two.order)
    expect(await nodes.store.find(first.id)).toEqual(one.order)
  })

  it('counts the writes and refuses one that does not know the last', async () => {
    const first = pending()
    const order = await take([first, paid(first)])
    expect(order.version).toBe(2)
    const stale = await nodes.store.move(first, paymentFailed(first))
    expect(stale).toEqual({ won: false, order })
  })

  it('throws for an order that was never opened', async () => {
    const order = pending()
    await expect(nodes.store.move(order, paid(order))).rejects.toThrow('never opened')
  })

  it('gives back what was stored, field for field', async () => {
    await fc.assert(
      fc.asyncProperty(anyOrder, async (any) => {
        const tender = { ...any.tender, nonce: newHash() }
        const target: Order = { ...any, id: newOrderId(), paymentId: newPaymentId(), tender }
        const way = wayTo(target)
        const moved = await take(way)
        expect(moved).toStrictEqual({ ...target, version: way.length })
        expect(await nodes.other.find(target.id)).toStrictEqual(moved)
      }),
      { numRuns: 60 },
    )
  })
}

function describeLeases(): void {
  it('keeps a new order from others until its lease ends', async () => {
    const { id } = await take([pending()])
    expect(await nodes.other.claimDue(10)).toEqual([])
    await nodes.endLease(id)
    expect((await nodes.other.claimDue(10)).map((order) => order.id)).toEqual([id])
    expect(await nodes.store.claimDue(10)).toEqual([])
  })

  it('renews the lease with every move', async () => {
    const first = pending()
    const opened = await take([first])
    await nodes.endLease(first.id)
    await nodes.store.move(opened, paid(first))
    expect(await nodes.other.claimDue(10)).toEqual([])
  })

  it('hands each order to one of two that claim at once', async () => {
    const orders = await Promise.all(Array.from({ length: 20 }, () => take([pending()])))
    await Promise.all(orders.map((order) => nodes.store.release(order, 0)))
    const claims = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? nodes.store : nodes.other).claimDue(4)),
    )
    for (const claim of claims) expect(claim.length).toBeLessThanOrEqual(4)
    const rest = await nodes.store.claimDue(100)
    const taken = [...claims.flat(), ...rest].map(({ id }) => id)
    expect(taken.sort()).toEqual(orders.map(({ id }) => id).sort())
  })

  it('makes a released order due when it said, or when it is hastened', async () => {
    const order = await take([pending()])
    await nodes.store.release(order, 60_000)
    expect(await nodes.other.claimDue(10)).toEqual([])
    await nodes.store.hasten(order.id)
    expect(await nodes.other.claimDue(10)).toEqual([order])
    await nodes.other.release(order, 0)
    expect(await nodes.store.claimDue(10)).toEqual([order])
  })

  it('keeps a hint that comes while somebody works on the order', async () => {
    const order = await take([pending()])
    await nodes.other.hasten(order.id)
    expect(await nodes.other.claimDue(10)).toEqual([])
    await nodes.store.release(order, 60_000)
    expect(await nodes.other.claimDue(10)).toEqual([order])
    await nodes.other.release(order, 60_000)
    expect(await nodes.other.claimDue(10)).toEqual([])
  })

  it('does not let a release end the lease of whoever moved the order on', async () => {
    const first = pending()
    await take([first, paid(first)])
    await nodes.store.release(first, 0)
    expect(await nodes.other.claimDue(10)).toEqual([])
  })

  it('leaves finished orders alone, and takes up one whose refund is tried again', async () => {
    const asking = asked()
    await take(wayTo(fulfilled(asked())))
    const order = await take(wayTo(unpayable(failed(asking))))
    await nodes.store.hasten(order.id)
    await nodes.store.release(order, 0)
    expect(await nodes.store.claimDue(10)).toEqual([])
    const retried = await nodes.store.move(order, { ...failed(asking), version: order.version })
    await nodes.store.release(retried.order, 0)
    expect(await nodes.store.claimDue(10)).toEqual([retried.order])
  })
}

function describeFinding(): void {
  it('finds an order by each of its names', async () => {
    const hash = `0x${'cD'.repeat(32)}`
    const first = pending()
    const order = await take([first, paid(first, hash)], ['k'])
    const { store } = nodes
    expect(await store.find(order.id)).toEqual(order)
    expect(await store.findByPaymentId(order.paymentId)).toEqual(order)
    expect(await store.findByPayment(paymentKeyOf(order.tender))).toEqual(order)
    expect(await store.findByTransaction(hash.toLowerCase())).toEqual(order)
    expect(await store.findByTransaction(hash.toUpperCase())).toEqual(order)
    expect(await store.findByKey(payer.toLowerCase(), 'k')).toEqual(order)
    expect(await store.hasKey(order.id, ['x', 'k'])).toBe(true)
  })

  it('finds nothing by names that no order has', async () => {
    const { id } = await take([pending()], ['k'])
    const { store } = nodes
    expect(await store.find(newOrderId())).toBeUndefined()
    expect(await store.findByPaymentId(newPaymentId())).toBeUndefined()
    expect(await store.findByTransaction(newHash())).toBeUndefined()
    expect(await store.findByPayment('x')).toBeUndefined()
    expect(await store.findByKey(payer, 'x')).toBeUndefined()
    expect(await store.findByKey(`0x${'77'.repeat(20)}`, 'k')).toBeUndefined()
    expect(await store.hasKey(id, ['x'])).toBe(false)
    expect(await store.hasKey(id, [])).toBe(false)
    expect(await store.hasKey(newOrderId(), ['k'])).toBe(false)
  })

  it('lists the orders of a payer newest first, in pages that neither repeat nor skip', async () => {
    const days = [3, 1, 2, 2, 2]
    const orders = await Promise.all(
      days.map((day) => take([pending({ placedAt: new Date(Date.UTC(2026, 0, day)) })])),
    )
    await take([pending({ tender: { ...newTender(), payer: `0x${'77'.repeat(20)}` } })])
    const pages = await Promise.all(
      [0, 2, 4, 6].map((offset) => nodes.store.listByPayer(payer, { limit: 2, offset })),
    )
    const listed = pages.flatMap(({ items }) => items)
    expect(pages.map(({ total }) => total)).toEqual([5, 5, 5, 5])
    expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1, 0])
    expect(listed.map(({ placedAt }) => placedAt.getUTCDate())).toEqual([3, 2, 2, 2, 1])
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(orders.map(({ id }) => id)))
  })

  it('lists one kind, and nothing for a stranger', async () => {
    const esim = pending()
    const order = await take([pending({ item: { ...esim.item, kind: 'esim' } })])
    await take([pending()])
    const page = await nodes.store.listByPayer(payer.toLowerCase(), {
      kind: 'esim',
      limit: 5,
      offset: 0,
    })
    expect(page).toEqual({ total: 1, items: [order] })
    const none = await nodes.store.listByPayer(`0x${'77'.repeat(20)}`, { limit: 5, offset: 0 })
    expect(none).toEqual({ total: 0, items: [] })
  })

  it('knows the eSIMs that a payer was delivered', async () => {
    await take(wayTo(fulfilled(asked(), 'digest')))
    expect(await nodes.store.boughtIccid(payer, 'digest')).toBe(true)
    expect(await nodes.store.boughtIccid(payer, 'other')).toBe(false)
    expect(await nodes.store.boughtIccid(`0x${'77'.repeat(20)}`, 'digest')).toBe(false)
  })
}

function describeKeeping(): void {
  it('knows a refund claim again', async () => {
    const { id } = await take(wayTo(failed(asked())))
    const other = await take(wayTo(failed(asked())))
    const uses = await Promise.all([
      nodes.store.claimRefund(id, 'k', 'body'),
      nodes.other.claimRefund(id, 'k', 'body'),
    ])
    expect(uses.sort()).toEqual(['first', 'same'])
    expect(await nodes.store.claimRefund(id, 'k', 'another')).toBe('other_body')
    expect(await nodes.store.claimRefund(id, 'l', 'another')).toBe('first')
    expect(await nodes.store.claimRefund(other.id, 'k', 'another')).toBe('first')
  })

  it('erases personal fields of ended orders once, and keeps the rest', async () => {
    const open = await take([pending()])
    const done = await take(wayTo(fulfilled(asked())))
    const target = refunded(failed(asked()))
    const back = await take(wayTo(target))
    expect(await nodes.store.erasePersonal(longAgo)).toBe(0)
    expect(await nodes.store.erasePersonal(inAnHour())).toBe(2)
    expect(await nodes.store.erasePersonal(inAnHour())).toBe(0)
    expect(await nodes.store.find(open.id)).toEqual(open)
    const erased = { ...done, recipient: undefined, version: done.version + 1 }
    expect(await nodes.store.find(done.id)).toEqual(erased)
    const kept = await nodes.store.find(back.id)
    expect(kept).toMatchObject({ recipient: undefined, refund: target.refund })
    expect(JSON.stringify(kept, (_, value) => String(value))).not.toContain('4915112345678')
  })

  it('does not let a writer who read before the erasure write the fields back', async () => {
    const asking = asked()
    const order = await take(wayTo(unpayable(failed(asking))))
    await nodes.store.erasePersonal(inAnHour())
    const moved = await nodes.other.move(order, failed(asking))
    expect(moved).toMatchObject({ won: false, order: { recipient: undefined } })
  })

  it('forgets old keys of ended orders only', async () => {
    const open = await take([pending()], ['k1'])
    const done = await take(wayTo(fulfilled(asked())), ['k2', 'k3'])
    expect(await nodes.store.forgetKeys(longAgo)).toBe(0)
    expect(await nodes.store.forgetKeys(inAnHour())).toBe(2)
    expect(await nodes.store.findByKey(payer, 'k1')).toEqual(open)
    expect(await nodes.store.findByKey(payer, 'k2')).toBeUndefined()
    expect(await nodes.store.hasKey(done.id, ['k2', 'k3'])).toBe(false)
  })
}
