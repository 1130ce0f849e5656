import { expect, test, vi } from 'vitest'
import { memoryOrders } from '../../../test/doubles/memory-orders.ts'
import { paid, pending } from '../../../test/fixtures/sample-orders.ts'
import { createVault } from '../../secrets/secrets.ts'
import type { StoreEvent } from '../ports.ts'
import { deliveryLeaseMs, type PostResult, type PostWebhook } from './ports.ts'
import { backOffMs, createWebhookSender } from './sender.ts'

const vault = createVault([Buffer.alloc(32, 1)])
const target = { url: 'https://hooks.example.com/', secret: `whsec_${'A'.repeat(43)}=` }

/** A sender with orders in memory, and a receiver that answers with `post`. */
function sending(post: PostWebhook, opener = vault) {
  let at = Date.parse('2026-03-01T00:00:00Z')
  const now = () => new Date(at)
  const orders = memoryOrders(now)
  const events: StoreEvent[] = []
  const counted: string[] = []
  const sender = createWebhookSender({
    webhooks: orders.webhooks,
    post,
    vault: opener,
    now,
    report: (event) => events.push(event),
    count: (outcome) => counted.push(outcome),
    random: () => 0,
  })
  return {
    sender,
    events,
    counted,
    webhooks: orders.webhooks,
    pass: (ms: number) => {
      at += ms
    },
    /** An order that was just paid, with a webhook. */
    async order(receiver = 'host') {
      const order = pending()
      const sealed = vault.seal(target, { order: order.id, field: 'webhook' })
      await orders.open(order, [], { webhook: { target: sealed, receiver } })
      await orders.move(order, paid(order))
      return order.id
    },
    async look() {
      await sender.look(25)
      await sender.settled()
    },
  }
}

test('a receiver that fails is tried until three days have passed, and then given up', async () => {
  const post = vi.fn(async (): Promise<PostResult> => ({ status: 500 }))
  const { order, look, pass, events, counted } = sending(post)
  const id = await order()
  for (let hours = 0; hours < 80; hours += 0.5) {
    await look()
    pass(1_800_000)
  }
  const attempts = post.mock.calls.length
  expect(attempts).toBeGreaterThan(70)
  expect(attempts).toBeLessThan(90)
  expect(events).toEqual([{ name: 'webhook_given_up', order: id, answer: 'HTTP 500' }])
  expect(counted.filter((one) => one === 'given_up')).toHaveLength(1)
  expect(counted).toHaveLength(attempts)
})

test.each([
  [{ status: 200 }, 'delivered'],
  [{ status: 204 }, 'delivered'],
  [{ status: 302 }, 'failed'],
  [{ status: 404 }, 'failed'],
  [{ status: 410 }, 'given_up'],
  [{ status: 503 }, 'failed'],
  [{ failure: 'timeout' }, 'failed'],
])('%j is counted as %s', async (answer, outcome) => {
  const { order, look, counted } = sending(async () => answer)
  await order()
  await look()
  expect(counted).toEqual([outcome])
})

test.each([
  ['longer than the back-off is waited for', 60_000, 59_000, 1_000],
  ['shorter than the back-off is not', 1_000, 4_000, 1_000],
  ['longer than a day is a day', 90 * 86_400_000, 86_399_000, 1_000],
])('a wait that a receiver asks for: %s', async (_, retryAfterMs, notYet, then) => {
  const post = vi.fn(async (): Promise<PostResult> => ({ status: 429, retryAfterMs }))
  const { order, look, pass } = sending(post)
  await order()
  await look()
  pass(notYet)
  await look()
  expect(post).toHaveBeenCalledTimes(1)
  pass(then)
  await look()
  expect(post).toHaveBeenCalledTimes(2)
})

test('deliveries that hang leave room for other receivers, and none is begun twice', async () => {
  const hanging = Promise.withResolvers<PostResult>()
  const post = vi.fn((): Promise<PostResult> => hanging.promise)
  const { order, sender } = sending(post)
  for (let n = 0; n < 60; n += 1) await order(`host ${n}`)
  for (let looks = 0; looks < 5; looks += 1) await sender.look(25)
  expect(post).toHaveBeenCalledTimes(50)
  hanging.resolve({ status: 200 })
  await sender.settled()
  await sender.look(25)
  expect(post).toHaveBeenCalledTimes(60)
  await sender.settled()
})

test('an event whose URL cannot be opened waits, and is given up in the end', async () => {
  const post = vi.fn(async (): Promise<PostResult> => ({ status: 200 }))
  const { order, look, webhooks, counted } = sending(post, createVault([Buffer.alloc(32, 2)]))
  const id = await order()
  await look()
  expect(post).not.toHaveBeenCalled()
  expect(counted).toEqual(['failed'])
  expect((await webhooks.find(id))?.events).toMatchObject([
    { state: 'pending', answer: 'webhook_unreadable' },
  ])
})

test('a database that breaks off is told to the operator, and the event is tried again', async () => {
  const post = vi.fn(async (): Promise<PostResult> => ({ status: 200 }))
  const { order, look, pass, webhooks, events, counted } = sending(post)
  const id = await order()
  vi.spyOn(webhooks, 'end').mockRejectedValueOnce(new Error('terminated'))
  await look()
  expect(events).toMatchObject([{ name: 'webhook_step_failed', order: id }])
  pass(deliveryLeaseMs)
  await look()
  expect(post).toHaveBeenCalledTimes(2)
  expect(counted).toEqual(['delivered'])
})

test('attempts come further and further apart, up to an hour', () => {
  const longest = [1, 2, 3, 4, 10, 11, 12, 80].map((attempts) => backOffMs(attempts, 0))
  const [hour, second] = [3_600_000, 1_000]
  expect(longest).toEqual([5, 10, 20, 40, 2_560, 3_600, 3_600, 3_600].map((s) => s * second))
  expect(backOffMs(80, 1)).toBe(hour / 2)
  expect(backOffMs(2, 0.5)).toBe(7_500)
})
