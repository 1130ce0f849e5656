import { inspect } from 'node:util'
import { expect, it } from 'vitest'
import type { Order } from '../../src/orders/order.ts'
import { paymentKeyOf } from '../../src/payments/payment.ts'
import { newOrderId, newPaymentId } from '../doubles/ids.ts'
import { noBudgets } from '../doubles/orders.ts'
import { asked, type Nodes, take } from './order-store-nodes.ts'
import {
  failed,
  fulfilled,
  newHash,
  newX402Payment,
  paid,
  payer,
  pending,
  refunded,
  unpayable,
  wayTo,
} from './sample-orders.ts'

const longAgo = new Date('2020-01-01')
const inAnHour = () => new Date(Date.now() + 3_600_000)

export function describeFinding(nodes: Nodes): void {
  it('finds an order by each of its names', async () => {
    const hash = `0x${'cD'.repeat(32)}`
    const first = pending()
    const order = await take(nodes, [first, paid(first, hash)], ['k'])
    const { store } = nodes()
    expect(await store.find(order.id)).toEqual(order)
    expect(await store.findByPaymentId(order.paymentId)).toEqual(order)
    expect(await store.findByPayment(paymentKeyOf(order.tender))).toEqual(order)
    expect(await store.findByTransaction(hash.toLowerCase())).toEqual(order)
    expect(await store.findByTransaction(hash.toUpperCase())).toEqual(order)
    expect(await store.findByKey(payer.toLowerCase(), 'k')).toEqual(order)
    expect(await store.hasKey(order.id, ['x', 'k'])).toBe(true)
  })

  it('finds nothing by names that no order has', async () => {
    const { id } = await take(nodes, [pending()], ['k'])
    const { store } = nodes()
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
      days.map((day) => take(nodes, [pending({ placedAt: new Date(Date.UTC(2026, 0, day)) })])),
    )
    await take(nodes, [pending({ tender: { ...newX402Payment(), payer: `0x${'77'.repeat(20)}` } })])
    const pages = await Promise.all(
      [0, 2, 4, 6].map((offset) => nodes().store.listByPayer(payer, { limit: 2, offset })),
    )
    const listed = pages.flatMap(({ items }) => items)
    expect(pages.map(({ total }) => total)).toEqual([5, 5, 5, 5])
    expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1, 0])
    expect(listed.map(({ placedAt }) => placedAt.getUTCDate())).toEqual([3, 2, 2, 2, 1])
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(orders.map(({ id }) => id)))
  })

  it('lists one kind, and nothing for a stranger', async () => {
    const esim = pending()
    const order = await take(nodes, [pending({ item: { ...esim.item, kind: 'esim' } })])
    await take(nodes, [pending()])
    const page = await nodes().store.listByPayer(payer.toLowerCase(), {
      kind: 'esim',
      limit: 5,
      offset: 0,
    })
    expect(page).toEqual({ total: 1, items: [order] })
    const none = await nodes().store.listByPayer(`0x${'77'.repeat(20)}`, { limit: 5, offset: 0 })
    expect(none).toEqual({ total: 0, items: [] })
  })

  it('knows the eSIMs that a payer was delivered', async () => {
    await take(nodes, wayTo(fulfilled(asked(), 'digest')))
    expect(await nodes().store.boughtIccid(payer, 'digest')).toBe(true)
    expect(await nodes().store.boughtIccid(payer, 'other')).toBe(false)
    expect(await nodes().store.boughtIccid(`0x${'77'.repeat(20)}`, 'digest')).toBe(false)
  })
}

export function describeKeeping(nodes: Nodes): void {
  it('knows a refund claim again', async () => {
    const order = await take(nodes, wayTo(failed(asked())))
    const other = await take(nodes, wayTo(failed(asked())))
    const claim = (order: Order, key: string, bodyHash: string, { store } = nodes()) =>
      store.claimRefund(order, { key, bodyHash }, noBudgets)
    const twice = { ...nodes(), store: nodes().other }
    const uses = [claim(order, 'k', 'body'), claim(order, 'k', 'body', twice)]
    expect(await Promise.all(uses)).toEqual(['fresh', 'fresh'])
    expect(await claim(order, 'k', 'another')).toBe('other_body')
    expect(await claim(order, 'l', 'another')).toBe('fresh')
    expect(await claim(other, 'k', 'another')).toBe('fresh')
    const moved = { ...order, version: order.version + 1 }
    expect(await claim(moved, 'k', 'body')).toBe('used')
    expect(await claim(moved, 'k', 'another')).toBe('other_body')
    expect(await claim(moved, 'm', 'body')).toBe('fresh')
  })

  it('erases personal fields of ended orders once, and keeps the rest', async () => {
    const open = await take(nodes, [pending()])
    const done = await take(nodes, wayTo(fulfilled(asked())))
    const target = refunded(failed(asked()))
    const back = await take(nodes, wayTo(target))
    expect(await nodes().store.erasePersonal(longAgo)).toBe(0)
    expect(await nodes().store.erasePersonal(inAnHour())).toBe(2)
    expect(await nodes().store.erasePersonal(inAnHour())).toBe(0)
    expect(await nodes().store.find(open.id)).toEqual(open)
    const erased = { ...done, recipient: undefined, version: done.version + 1 }
    expect(await nodes().store.find(done.id)).toEqual(erased)
    const kept = await nodes().store.find(back.id)
    expect(kept).toMatchObject({ recipient: undefined, payout: target.payout })
    expect(inspect(kept, { depth: 9 })).not.toContain('4915112345678')
  })

  it('does not let a writer who read before the erasure write the fields back', async () => {
    const asking = asked()
    const order = await take(nodes, wayTo(unpayable(failed(asking))))
    await nodes().store.erasePersonal(inAnHour())
    const moved = await nodes().other.move(order, failed(asking))
    expect(moved).toMatchObject({ won: false, record: { recipient: undefined } })
  })

  it('forgets old keys of ended orders only', async () => {
    const open = await take(nodes, [pending()], ['k1'])
    const done = await take(nodes, wayTo(fulfilled(asked())), ['k2', 'k3'])
    expect(await nodes().store.forgetKeys(longAgo)).toBe(0)
    expect(await nodes().store.forgetKeys(inAnHour())).toBe(2)
    expect(await nodes().store.findByKey(payer, 'k1')).toEqual(open)
    expect(await nodes().store.findByKey(payer, 'k2')).toBeUndefined()
    expect(await nodes().store.hasKey(done.id, ['k2', 'k3'])).toBe(false)
  })
}
