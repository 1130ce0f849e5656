import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { bookedFor, lifeOf, reported } from './facts.ts'
import { bodyFor, buy, eventually, get, type Kind, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

const deadlineMs = 2_000
const graceMs = 3_000
const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']
const gone = ['PAYMENT_PENDING', 'PAID', 'FULFILLING', 'EXPIRED']

let store: Store

// The call waits longer than the deadline, so that its worker is there to see it pass.
// LATE is delivered in the middle of the grace.
beforeAll(async () => {
  store = await openStore({
    lateSeconds: 3.5,
    env: {
      FULFILLMENT_DEADLINE_SECONDS: '2',
      REFUND_GRACE_SECONDS: '3',
      PURCHASE_WAIT_SECONDS: '8',
    },
  })
})
afterAll(() => store.close())

test.concurrent('HANG expires, reads REFUND_PENDING at once, and is paid back after the grace', () =>
  everyKind(async (kind) => {
    const { buyer, before, accepts, orderId, bearer } = await expire(kind, 'HANG')
    const order = await refunded(orderId, bearer)
    expect(order.orders).toMatchObject([{ state: 'EXPIRED', agent_action: null, result: null }])
    await expectPaidBack(buyer, before, accepts.amount)
    const life = await lifeOf(store, orderId)
    expect(life.states).toEqual(gone)
    expect(life.refunds).toEqual(['WAITING', 'DUE', 'SIGNED', 'REFUNDED'])
    const { expiredAfterMs, signedAfterMs } = await timesOf(orderId)
    expect(expiredAfterMs).toBeGreaterThanOrEqual(deadlineMs)
    expect(signedAfterMs).toBeGreaterThanOrEqual(graceMs)

    await store.admin('/purchases', { transactionId: orderId.replace('_', ''), status: 'DONE' })
    await expectKeptFromEveryone(kind, orderId, bearer)
    await expectPaidBack(buyer, before, accepts.amount)
  }))

test.concurrent('LATE goods are kept from everyone, and given back or booked', () =>
  everyKind(async (kind) => {
    const { buyer, before, accepts, orderId, bearer, send } = await expire(kind, 'LATE')
    await expectKeptFromEveryone(kind, orderId, bearer)
    const { body } = await send(bearer)
    expect(body.orders).toMatchObject([{ state: 'EXPIRED', result: null }])
    await refunded(orderId)
    await expectKeptFromEveryone(kind, orderId, bearer)
    await expectPaidBack(buyer, before, accepts.amount)
    expect(await lifeOf(store, orderId)).toEqual({
      states: gone,
      refunds: ['WAITING', 'DUE', 'SIGNED', 'REFUNDED'],
    })
    expect((await timesOf(orderId)).signedAfterMs).toBeLessThan(graceMs)
  }))

test.concurrent('the final no of the supplier ends the grace early', async () => {
  const { orderId, buyer, before, accepts } = await expire('topup', 'HANG')
  await store.admin('/purchases', { transactionId: orderId.replace('_', ''), status: 'FAILED' })
  await refunded(orderId)
  expect((await timesOf(orderId)).signedAfterMs).toBeLessThan(graceMs)
  expect((await lifeOf(store, orderId)).states).toEqual(gone)
  await expectPaidBack(buyer, before, accepts.amount)
})

test.concurrent('what was accepted and never shown is waited for, and seen days after its refund', async () => {
  await store.admin('/manners', { offerId: 'TEST-TOPUP-SLOW', hiddenMs: 7_000, endsAfterMs: 100 })
  const { orderId, bearer, buyer, before, accepts } = await expire('topup', 'SLOW')
  await refunded(orderId)
  const { signedAfterMs } = await timesOf(orderId)
  expect(signedAfterMs).toBeGreaterThanOrEqual(graceMs)
  await toldSoon(orderId)
  await expectKeptFromEveryone('topup', orderId, bearer)
  await expectPaidBack(buyer, before, accepts.amount)
})

test.concurrent('an eSIM whose return is accepted and then fails is booked as lost', async () => {
  await store.admin('/manners', { offerId: 'TEST-ESIM-SLOW', endsAfterMs: 3_500, refund: 'fails' })
  const { orderId } = await expire('esim', 'SLOW')
  await refunded(orderId)
  expect(await toldSoon(orderId)).toEqual(['goods_lost'])
})

/** What operators hear of an order that would be looked at once a minute, looked at again and again. */
function toldSoon(orderId: string): Promise<string[]> {
  const hasten = 'update orders set due_at = now() where id = $1 and due_at is not null'
  return eventually(
    async () => {
      await store.query(hasten, [orderId])
      return reported(store, orderId)
    },
    (names) => names.length > 0,
  )
}

async function everyKind(story: (kind: Kind) => Promise<void>): Promise<void> {
  await Promise.all(kinds.map(story))
}

/** Buys, and is told that the goods did not come in time. */
async function expire(kind: Kind, outcome: string) {
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer, send, accepts } = await buy(store, buyer, kind, bodyFor(kind, outcome))
  const { orderId, accessToken } = answer.body
  expect(answer.status).toBe(202)
  expect(answer.body).toMatchObject({
    orders: [{ state: 'EXPIRED', agent_action: 'wait', result: null, error: { code: 'expired' } }],
    refund_state: 'REFUND_PENDING',
    refund_contract: { required_body: { reason: 'expired' } },
  })
  // The supplier has said nothing.
  expect(answer.body.orders[0].error).not.toHaveProperty('supplier_code')
  const bearer = { authorization: `Bearer ${accessToken}` }
  return { buyer, before, send, accepts, orderId, bearer }
}

function refunded(orderId: string, headers: Record<string, string> = {}) {
  return until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED', headers)
}

/** One transfer of the whole price, and the buyer has what it had. */
async function expectPaidBack(buyer: Buyer, before: bigint, amount: string): Promise<void> {
  expect(await buyer.balance()).toBe(before)
  expect(await transfersBetween(store.parts, store.refundWallet, buyer.address)).toMatchObject([
    { value: BigInt(amount) },
  ])
}

/** The supplier delivered; nobody is shown the goods, and the operator knows what became of them. */
async function expectKeptFromEveryone(
  kind: Kind,
  orderId: string,
  bearer: Record<string, string>,
): Promise<void> {
  const told = await eventually(
    () => reported(store, orderId),
    (names) => names.length > 0,
  )
  expect(told).toEqual([kind === 'esim' ? 'goods_returned' : 'goods_lost'])
  const [booked] = await eventually(
    () => bookedFor(store, orderId),
    ([entry]) => kind !== 'esim' || entry?.refunded === entry?.charged,
  )
  expect(booked).toMatchObject({ status: 'DONE', deliveries: 1 })
  if (kind !== 'esim') expect(booked?.refunded).toBe(0)

  const { body } = await get(store.url, `/api/catalog/orders/${orderId}`, bearer)
  expect(body.orders).toMatchObject([{ state: 'EXPIRED', result: null }])
  const [row] = await store.query('select delivery, doc from orders where id = $1', [orderId])
  expect(row.delivery).toBeNull()
  const everything = JSON.stringify([body, row, store.logLines])
  for (const secret of booked?.secrets ?? []) expect(everything).not.toContain(secret)
}

/** From the payment to the end of the order, and from there to the signature of its refund. */
async function timesOf(orderId: string) {
  const [{ paid, expired, signed }] = await store.query(
    `select (doc #>> '{paidAt,$date}')::timestamptz as paid, changed_at as expired,
      (select min(at) from order_events where order_id = id and refund_step = 'SIGNED') as signed
     from orders where id = $1`,
    [orderId],
  )
  return { expiredAfterMs: expired - paid, signedAfterMs: signed - expired }
}
