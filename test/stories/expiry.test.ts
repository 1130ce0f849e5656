import { expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { bookedFor, lifeOf, reported } from './facts.ts'
import { bodyFor, buy, eventually, get, type Kind, supplierSays, until } from './requests.ts'
import { useStore } from './store.ts'

const deadlineMs = 1_000
const graceMs = 1_000

// The call waits longer than the deadline, so that its worker is there to see it pass.
const store = useStore({
  env: {
    FULFILLMENT_DEADLINE_SECONDS: '1',
    PURCHASE_WAIT_SECONDS: '25',
    REFUND_GRACE_SECONDS: '1',
  },
})

test.concurrent.each<Kind>(['voucher', 'topup', 'esim'])(
  'a %s that does not come in time expires, and is paid back after the grace',
  async (kind) => {
    const bought = await expire(kind)
    const { orderId } = bought
    await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
    const { refunds } = await lifeOf(store, orderId)
    expect(refunds).toEqual(['WAITING', 'DUE', 'APPROVED', 'CONFIRMED'])
    const { expiredAfterMs, signedAfterMs } = await timesOf(orderId)
    expect(expiredAfterMs).toBeGreaterThanOrEqual(deadlineMs)
    expect(signedAfterMs).toBeGreaterThanOrEqual(graceMs)

    await supplierSays(store, orderId, 'DONE')
    await expectKeptFromEveryone(kind, bought)
  },
)

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

/** Buys, and is told that the goods did not come in time. */
async function expire(kind: Kind) {
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer, accepts } = await buy(store, buyer, kind, bodyFor(kind, 'HANG'))
  const { orderId, accessToken } = answer.body
  expect(answer.status).toBe(202)
  expect(answer.body).toMatchObject({
    orders: [{ state: 'EXPIRED', agent_action: 'wait', result: null, error: { code: 'expired' } }],
    refund_state: 'REFUND_PENDING',
    refund_contract: { required_body: { reason: 'expired' } },
  })
  return { buyer, before, accepts, orderId, bearer: { authorization: `Bearer ${accessToken}` } }
}

/**
 * The supplier delivered; nobody is shown the goods, the operator knows what became of them, and the buyer was paid
 * back once.
 */
async function expectKeptFromEveryone(
  kind: Kind,
  { orderId, bearer, buyer, before, accepts }: Awaited<ReturnType<typeof expire>>,
): Promise<void> {
  expect(await toldSoon(orderId)).toEqual([kind === 'esim' ? 'goods_returned' : 'goods_lost'])
  const [booked] = await eventually(
    () => bookedFor(store, orderId),
    ([entry]) => kind !== 'esim' || entry?.refunded === entry?.charged,
  )
  expect(booked).toMatchObject({ status: 'DONE', deliveries: 1 })
  const { body } = await get(store.url, `/api/catalog/orders/${orderId}`, bearer)
  expect(body.orders).toMatchObject([{ state: 'EXPIRED', agent_action: null, result: null }])
  const [row] = await store.query('select delivery, doc from orders where id = $1', [orderId])
  expect(row.delivery).toBeNull()
  const everything = JSON.stringify([body, row, store.logLines])
  for (const secret of booked?.secrets ?? []) expect(everything).not.toContain(secret)
  const paidBack = await transfersBetween(store.parts, store.refundWallet, buyer.address)
  expect(paidBack).toMatchObject([{ value: BigInt(accepts.amount) }])
  expect(await buyer.balance()).toBe(before)
}

/** From the payment to the end of the order, and from there to the signature of its refund. */
async function timesOf(orderId: string) {
  const [{ paid, expired, signed }] = await store.query(
    `select (doc #>> '{paidAt,$date}')::timestamptz as paid, changed_at as expired,
      (select min(at) from order_events where order_id = id and payout_state = 'APPROVED') as signed
     from orders where id = $1`,
    [orderId],
  )
  return { expiredAfterMs: expired - paid, signedAfterMs: signed - expired }
}
