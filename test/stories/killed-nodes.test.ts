import { afterEach, expect, test } from 'vitest'
import { type Fault, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { type ChildNode, endLease, startChild } from './child-node.ts'
import { bookedFor } from './facts.ts'
import { holdWrite } from './held-write.ts'
import {
  bodyFor,
  eventually,
  get,
  type Kind,
  post,
  purchasePath,
  termsOf,
  until,
} from './requests.ts'
import { useStore } from './store.ts'

// A node is killed between something it did outside and the write that says so, which is then never
// made. Another node has to find out what happened, and must not do it a second time.

const store = useStore({ env: { PURCHASE_WAIT_SECONDS: '5' } })
const children: ChildNode[] = []
const closing: { close(): Promise<void> }[] = []

afterEach(async () => {
  for (const child of children.splice(0)) await child.kill()
  for (const proxy of closing.splice(0)) await proxy.close()
})

async function newChild(options: Parameters<typeof startChild>[1] = {}): Promise<ChildNode> {
  const child = await startChild(store, options)
  children.push(child)
  return child
}

/** Sends a purchase to a node that may be killed before it answers. */
async function sendTo({ url }: { url: string }, buyer: Buyer, kind: Kind, outcome: string) {
  const body = bodyFor(kind, outcome)
  const accepts = await termsOf(url, kind, body)
  const { header } = await buyer.sign(accepts)
  const headers = { 'payment-signature': header, 'idempotency-key': 'sent-to-a-mortal-node' }
  const answered = post(url, purchasePath(kind), body, headers).catch(() => undefined)
  const orderId = await eventually(
    () => store.query('select id from orders where payer = $1', [buyer.address.toLowerCase()]),
    (rows) => rows.length === 1,
  ).then(([row]) => row.id as string)
  const retry = () => post(store.url, purchasePath(kind), body, headers)
  return { answered, orderId, retry, amount: BigInt(accepts.amount) }
}

/** Buys at a node that is killed when it is about to make this write, which is undone. */
async function buyAndKill(buyer: Buyer, outcome: string, write: string) {
  const child = await newChild()
  const held = await holdWrite(store, `new.payer = '${buyer.address.toLowerCase()}' and ${write}`)
  const sent = await sendTo(child, buyer, 'voucher', outcome)
  await held.reached()
  await child.kill()
  await held.undo()
  await sent.answered
  return sent
}

async function stateOf(orderId: string): Promise<string> {
  const [row] = await store.query(
    `select state, doc #>> '{payout,state}' as payout from orders where id = $1`,
    [orderId],
  )
  return [row.state, row.payout].filter(Boolean).join(' ')
}

const refundsTo = (buyer: Buyer) => transfersBetween(store.parts, store.refundWallet, buyer.address)
const paymentsOf = (buyer: Buyer) => transfersBetween(store.parts, buyer.address, store.payTo)

test('a node killed after the settlement and before the order says PAID: the logs say it', async () => {
  const buyer = await newBuyer()
  const write = `old.state = 'PAYMENT_PENDING' and new.state = 'PAID'`
  const { orderId, retry, amount } = await buyAndKill(buyer, 'OK', write)
  expect(await stateOf(orderId)).toBe('PAYMENT_PENDING')
  expect(await paymentsOf(buyer)).toMatchObject([{ value: amount }])

  await endLease(store, orderId)
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect(await retry()).toMatchObject({ status: 200, body: { orderId } })
  expect(await paymentsOf(buyer)).toHaveLength(1)
  expect(await bookedFor(store, orderId)).toMatchObject([{ deliveries: 1 }])
})

test('a node killed with the goods in hand: they are read again at the supplier, and not bought again', async () => {
  const buyer = await newBuyer()
  const write = `old.state = 'FULFILLING' and new.state = 'FULFILLED'`
  const { orderId, retry } = await buyAndKill(buyer, 'OK', write)
  expect(await stateOf(orderId)).toBe('FULFILLING')
  const [booked] = await bookedFor(store, orderId)
  expect(booked).toMatchObject({ status: 'DONE', deliveries: 1 })

  await endLease(store, orderId)
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect((await retry()).body.orders[0].result.code).toBe(booked?.secrets[0])
  expect(await bookedFor(store, orderId)).toEqual([booked])
  expect(await refundsTo(buyer)).toEqual([])
})

const refundWrites = [
  {
    when: 'before its signature is on record',
    write: `old.doc #>> '{payout,state}' = 'DUE' and new.doc #>> '{payout,state}' = 'APPROVED'`,
    left: 'FULFILLMENT_FAILED DUE',
    alreadyPaid: 0,
  },
  {
    when: 'after it has landed',
    write: `old.doc #>> '{payout,state}' = 'APPROVED' and new.doc #>> '{payout,state}' = 'CONFIRMED'`,
    left: 'FULFILLMENT_FAILED APPROVED',
    alreadyPaid: 1,
  },
]

test.each(refundWrites)(
  'a node killed at a refund, $when: it is paid once',
  async ({ write, left, alreadyPaid }) => {
    const buyer = await newBuyer()
    const before = await buyer.balance()
    const { orderId, amount } = await buyAndKill(buyer, 'DECLINED', write)
    expect(await stateOf(orderId)).toBe(left)
    expect(await refundsTo(buyer)).toHaveLength(alreadyPaid)

    await endLease(store, orderId)
    await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
    expect(await refundsTo(buyer)).toMatchObject([{ value: amount }])
    expect(await buyer.balance()).toBe(before)
  },
)

test('a node that stood still for longer than its lease finds the order done, and changes nothing', async () => {
  const supplier = await startProxy(store.settings.supplierUrl)
  closing.push(supplier)
  const child = await newChild({ through: { supplierUrl: supplier.url } })
  const [asked, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  supplier.breakCalls(async (call): Promise<Fault> => {
    if (!call.startsWith('POST')) return 'none'
    asked.resolve()
    await letGo.promise
    return 'none'
  })
  const buyer = await newBuyer()
  const { answered, orderId, amount } = await sendTo(child, buyer, 'voucher', 'OK')
  // It has put on record that it asks the supplier, and its request is still on the way.
  await asked.promise
  child.standStill()
  expect(await bookedFor(store, orderId)).toEqual([])

  await endLease(store, orderId)
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  const booked = await bookedFor(store, orderId)
  expect(booked).toMatchObject([{ deliveries: 1 }])
  const history = await store.query('select * from order_events where order_id = $1', [orderId])

  letGo.resolve()
  child.goOn()
  expect(await answered).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
  expect(supplier.calls.filter((call) => call.startsWith('POST'))).toHaveLength(1)
  // The supplier heard the same reference twice, and sold once.
  expect(await bookedFor(store, orderId)).toEqual(booked)
  expect(await store.query('select * from order_events where order_id = $1', [orderId])).toEqual(
    history,
  )
  expect(await paymentsOf(buyer)).toMatchObject([{ value: amount }])
  const { body } = await get(store.url, `/api/catalog/orders/${orderId}`)
  expect(body.refund_state).toBeNull()
})
