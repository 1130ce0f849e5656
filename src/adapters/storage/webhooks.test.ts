import { describe, expect, it } from 'vitest'
import { giveUpAfterMs } from '../../../test/doubles/memory-webhooks.ts'
import {
  failed,
  fulfilled,
  fulfilling,
  newX402Payment,
  paid,
  payer,
  paymentFailed,
  pending,
  wayTo,
} from '../../../test/fixtures/sample-orders.ts'
import type { Order } from '../../orders/order.ts'
import {
  type Delivery,
  deliveryLeaseMs,
  maxAttempts,
  maxPerReceiver,
  redeliverEveryMs,
} from '../../orders/webhooks/ports.ts'
import type { Sealed } from '../../secrets/secrets.ts'
import { inTurn, twoNodes } from './stores.fixture.ts'
import { createMailBook, createWebhookStore } from './webhooks.ts'

/** What one payer may open within an hour, and leave waiting when another one is opened (the schema). */
const maxWebhooksPerHour = 60
const maxPendingEvents = 200

const nodes = twoNodes((database) => ({
  ...createWebhookStore(database),
  mail: createMailBook(database),
}))

const webhook = { target: 'sealed' as Sealed, receiver: 'one host' }
const delivered = { type: 'delivered', answer: 'HTTP 204' } as const
const later = { type: 'failed', answer: 'HTTP 500', againInMs: 60_000 } as const
const hour = 3_600_000

/** Opens an order with a webhook, and moves it to this state. */
async function order(to: Order = paid(pending()), receiver = webhook.receiver) {
  const { orders } = nodes()
  const [first, ...rest] = wayTo(to)
  if (first?.state !== 'PAYMENT_PENDING') throw new Error('An order begins with its payment')
  const opened = await orders.open(first, [], { webhook: { ...webhook, receiver } })
  expect(opened.webhook).toBe('active')
  let last: Order = opened.order
  for (const next of rest) last = (await orders.move(last, next)).record
  return last
}

async function only(deliveries: Promise<readonly Delivery[]>): Promise<Delivery> {
  const [delivery, ...others] = await deliveries
  expect(others).toEqual([])
  if (delivery === undefined) throw new Error('Nothing is due')
  return delivery
}

describe('noting events', () => {
  it('notes every change of state with the write that makes it, and no more', async () => {
    const last = await order(failed(fulfilling(paid(pending()))))
    const seen = await nodes().store.find(last.id)
    expect(seen?.state).toBe('active')
    expect(seen?.events).toMatchObject([
      { type: 'order.paid', state: 'pending', attempts: 0 },
      { type: 'order.fulfilling', state: 'pending', attempts: 0 },
      { type: 'order.fulfillment_failed', state: 'pending', attempts: 0 },
    ])
    expect(new Set(seen?.events.map(({ id }) => id)).size).toBe(3)
  })

  it('says what the order is, and nothing that is only for its buyer', async () => {
    const last = await order()
    const delivery = await only(nodes().store.claimDue(9))
    expect(delivery).toMatchObject({ order: last.id, target: webhook.target, attempts: 1 })
    expect(delivery.data).toEqual({
      orderId: last.id,
      paymentId: last.paymentId,
      state: 'PAID',
      refund_state: null,
      transactionHash: 'receipt' in last ? last.receipt.transaction.toLowerCase() : null,
      refundTransactionHash: null,
    })
  })

  it('notes nothing for an order without a webhook, nor for a move that was lost', async () => {
    const { orders, store } = nodes()
    const plain = pending()
    await orders.open(plain, [])
    await orders.move(plain, paid(plain))
    expect(await store.find(plain.id)).toBeUndefined()
    const first = pending()
    await orders.open(first, [], { webhook })
    await orders.move(first, paid(first))
    expect((await orders.move(first, paymentFailed(first))).won).toBe(false)
    expect((await store.find(first.id))?.events).toMatchObject([{ type: 'order.paid' }])
  })

  it('forgets the webhook and the mail address of an order with its personal fields', async () => {
    const { orders, store, pass } = nodes()
    const ended = await order(fulfilled(fulfilling(paid(pending()))))
    const final = { ...ended, settlement: 'FINAL' } as Order
    await orders.move(ended, final)
    const open = await order()
    for (const { id } of [ended, open]) await store.mail.remember(id, 'digest')
    await pass(2 * hour)
    expect(await store.forget(new Date(Date.now() - hour))).toBe(1)
    expect(await store.mail.forget(new Date(Date.now() - hour))).toBe(1)
    expect(await store.mail.ordersOf(['digest'], 5)).toEqual([open.id])
    expect(await store.find(ended.id)).toBeUndefined()
    expect(await store.find(open.id)).toBeDefined()
  })
})

describe('delivering events', () => {
  it('gives each event to one of many, on two nodes', async () => {
    const events = 30
    for (let n = 0; n < events; n += 1) await order(undefined, `host ${n}`)
    // Opens the connections first, so that the claims really overlap.
    await inTurn(nodes(), 32, (node) => node.countPending())
    const taken = await inTurn(nodes(), 32, (node) => node.claimDue(events))
    expect(taken.flat()).toHaveLength(events)
  })

  it('sends the events of an order one after the other', async () => {
    const { store } = nodes()
    await order(fulfilling(paid(pending())))
    const first = await only(store.claimDue(9))
    expect(first.type).toBe('order.paid')
    expect(await store.claimDue(9)).toEqual([])
    await store.end(first, delivered)
    expect((await only(store.claimDue(9))).type).toBe('order.fulfilling')
  })

  it('keeps an event that a node broke off for another one, under its id', async () => {
    const { store, other, pass } = nodes()
    await order()
    const first = await only(store.claimDue(9))
    await pass(deliveryLeaseMs - 5_000)
    expect(await other.claimDue(9)).toEqual([])
    await pass(10_000)
    const again = await only(other.claimDue(9))
    expect([again.id, again.attempts]).toEqual([first.id, 2])
    expect(again.lease).not.toBe(first.lease)
    expect(await store.end(first, delivered)).toBe(false)
    expect((await store.find(first.order))?.events).toMatchObject([{ state: 'pending' }])
  })

  it('tries again when it is time, and says how it went', async () => {
    const { store, pass } = nodes()
    const { id } = await order()
    expect(await store.end(await only(store.claimDue(9)), later)).toBe(false)
    expect(await store.claimDue(9)).toEqual([])
    await pass(later.againInMs)
    const again = await only(store.claimDue(9))
    expect(again.attempts).toBe(2)
    expect(await store.end(again, delivered)).toBe(false)
    const seen = await store.find(id)
    expect(seen?.events).toMatchObject([{ state: 'delivered', attempts: 2, answer: 'HTTP 204' }])
    expect(seen?.events[0]?.nextAttemptAt).toBeNull()
    expect(await store.claimDue(9)).toEqual([])
  })

  it('gives an event up after three days, and goes on with the next', async () => {
    const { store, pass } = nodes()
    const { id } = await order(fulfilling(paid(pending())))
    await pass(giveUpAfterMs)
    expect(await store.end(await only(store.claimDue(9)), later)).toBe(true)
    const next = await only(store.claimDue(9))
    expect(next.type).toBe('order.fulfilling')
    expect((await store.find(id))?.events).toMatchObject([
      { state: 'given_up', answer: 'HTTP 500' },
      { state: 'pending' },
    ])
  })

  it('ends all deliveries to a receiver that is gone, and notes what it misses', async () => {
    const { store, orders } = nodes()
    const last = await order(fulfilling(paid(pending())))
    const first = await only(store.claimDue(9))
    expect(await store.end(first, { type: 'gone', answer: 'HTTP 410' })).toBe(true)
    await orders.move(last, fulfilled(last as Parameters<typeof fulfilled>[0]))
    expect(await store.claimDue(9)).toEqual([])
    const seen = await store.find(last.id)
    expect(seen?.state).toBe('gone')
    expect(seen?.events.map(({ type, state }) => [type, state])).toEqual([
      ['order.paid', 'given_up'],
      ['order.fulfilling', 'given_up'],
      ['order.fulfilled', 'given_up'],
    ])
  })

  it('lets no backlog of one receiver stand before another', async () => {
    const { store } = nodes()
    for (let n = 0; n < maxPerReceiver + 2; n += 1) await order(undefined, 'slow')
    const other = await order(undefined, 'quick')
    const taken = await store.claimDue(50)
    expect(taken).toHaveLength(maxPerReceiver + 1)
    expect(taken.map((one) => one.order)).toContain(other.id)
    expect(await store.claimDue(50)).toEqual([])
    const slow = taken.find((one) => one.order !== other.id)
    if (slow) await store.end(slow, delivered)
    expect(await store.claimDue(50)).toHaveLength(1)
  })

  it('counts what waits', async () => {
    const { store } = nodes()
    expect(await store.countPending()).toBe(0)
    await order()
    await order()
    expect(await store.countPending()).toBe(2)
    for (const delivery of await store.claimDue(9)) await store.end(delivery, delivered)
    expect(await store.countPending()).toBe(0)
  })
})

describe('sending events again', () => {
  it('makes all events of an order due again, in order, under their ids', async () => {
    const { store } = nodes()
    const { id } = await order(fulfilling(paid(pending())))
    const sent = [await only(store.claimDue(9))]
    for (const one of sent) await store.end(one, delivered)
    const second = await only(store.claimDue(9))
    await store.end(second, delivered)
    expect(await store.redeliver(id)).toBe(2)
    const again = await only(store.claimDue(9))
    expect([again.id, again.attempts]).toEqual([sent[0]?.id, 2])
    await store.end(again, delivered)
    expect((await only(store.claimDue(9))).id).toBe(second.id)
  })

  it('does so once a minute, however many ask at once', async () => {
    const { store, pass } = nodes()
    const { id } = await order()
    const done = await inTurn(nodes(), 8, (node) => node.redeliver(id))
    expect(done.filter((one) => one === 'too_soon')).toHaveLength(7)
    await pass(redeliverEveryMs)
    expect(await store.redeliver(id)).toBe(1)
  })

  it('tries an event so often in its whole life, whoever asks for more', async () => {
    const { store, pass } = nodes()
    const { id } = await order()
    let tries = 0
    for (let asked = 0; asked < maxAttempts + 5; asked += 1) {
      const taken = await store.claimDue(9)
      for (const one of taken) await store.end(one, later)
      tries += taken.length
      await pass(redeliverEveryMs)
      await store.redeliver(id)
    }
    expect(tries).toBe(maxAttempts)
    expect(await store.claimDue(9)).toEqual([])
    expect((await store.find(id))?.events).toMatchObject([{ state: 'given_up' }])
  })

  it('tries an event that was given up once for each time that it is asked for', async () => {
    const { store, pass } = nodes()
    const { id } = await order()
    await pass(giveUpAfterMs)
    await store.end(await only(store.claimDue(9)), later)
    expect(await store.redeliver(id)).toBe(1)
    expect(await store.end(await only(store.claimDue(9)), later)).toBe(true)
    await pass(hour)
    expect(await store.claimDue(9)).toEqual([])
  })

  it('sends nothing more to a receiver that is gone', async () => {
    const { store, pass } = nodes()
    const { id } = await order()
    await store.end(await only(store.claimDue(9)), { type: 'gone', answer: 'HTTP 410' })
    await pass(redeliverEveryMs)
    expect(await store.redeliver(id)).toBe('none')
    expect(await store.claimDue(9)).toEqual([])
    expect((await store.find(id))?.state).toBe('gone')
  })

  it('leaves a delivery that is under way alone', async () => {
    const { store } = nodes()
    const { id } = await order()
    const first = await only(store.claimDue(9))
    await store.redeliver(id)
    expect(await store.claimDue(9)).toEqual([])
    await store.end(first, delivered)
    expect((await store.find(id))?.events).toMatchObject([{ state: 'delivered' }])
  })
})

describe('the limits of webhooks', () => {
  const mine = { ...newX402Payment(), payer }
  const open = (payment = { ...newX402Payment(), payer: mine.payer }) =>
    nodes().orders.open(pending({ payment }), [], { webhook })

  it('opens so many webhooks of a payer within an hour, and every order', async () => {
    const { store, pass } = nodes()
    const opened = await Promise.all(Array.from({ length: maxWebhooksPerHour + 5 }, () => open()))
    expect(opened.every(({ isNew }) => isNew)).toBe(true)
    expect(opened.filter((one) => one.webhook === 'active')).toHaveLength(maxWebhooksPerHour)
    const beyond = opened.find((one) => one.webhook === 'over_limit')?.order as Order
    await nodes().orders.move(beyond, paid(beyond as Parameters<typeof paid>[0]))
    expect(await store.find(beyond.id)).toEqual({ state: 'over_limit', events: [] })
    expect(await store.redeliver(beyond.id)).toBe('none')
    const stranger = { ...newX402Payment(), payer: payer.replace(/.$/, '9') }
    expect(await open(stranger)).toMatchObject({ webhook: 'active' })
    await pass(hour)
    expect(await open()).toMatchObject({ webhook: 'active' })
  })

  it('opens none for a payer whose receivers left so many events waiting', async () => {
    const { pass } = nodes()
    for (let events = 0; events < maxPendingEvents; events += 2) {
      await order(fulfilling(paid(pending({ payment: { ...newX402Payment(), payer } }))))
      if (events % (2 * maxWebhooksPerHour - 2) === 0) await pass(hour)
    }
    await pass(hour)
    expect(await open()).toMatchObject({ isNew: true, webhook: 'over_limit' })
  })
})
