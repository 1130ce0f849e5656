import { expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { bookedFor, lifeOf, reported } from './facts.ts'
import { bodyFor, buy, eventually, get, type Kind, supplierSays, until } from './requests.ts'
import { type Store, useStore } from './store.ts'

const deadlineMs = 1_000
const graceMs = 1_000

// The call waits longer than the deadline, so that its worker is there to see it pass.
const env = { FULFILLMENT_DEADLINE_SECONDS: '1', PURCHASE_WAIT_SECONDS: '25' }
const store = useStore({ env: { ...env, REFUND_GRACE_SECONDS: '1' } })
/** Where the grace ends only by what the supplier says. */
const patient = useStore({ env: { ...env, REFUND_GRACE_SECONDS: '600' } })

test.concurrent.each<Kind>(['voucher', 'topup', 'esim'])(
  'a %s that does not come in time expires, and is paid back after the grace',
  async (kind) => {
    const bought = await expire(store, kind)
    const { orderId } = bought
    await refunded(store, orderId)
    const { refunds } = await lifeOf(store, orderId)
    expect(refunds).toEqual(['WAITING', 'DUE', 'APPROVED', 'CONFIRMED'])
    const { expiredAfterMs, signedAfterMs } = await timesOf(orderId)
    expect(expiredAfterMs).toBeGreaterThanOrEqual(deadlineMs)
    expect(signedAfterMs).toBeGreaterThanOrEqual(graceMs)

    await supplierSays(store, orderId, 'DONE')
    await expectKeptFromEveryone(store, kind, bought)
  },
)

test.concurrent.each<Kind>(['voucher', 'topup', 'esim'])(
  'a %s that comes late is kept from everyone, and given back or booked',
  async (kind) => {
    const bought = await expire(patient, kind)
    const { orderId } = bought
    await supplierSays(patient, orderId, 'DONE')
    await refunded(patient, orderId)
    await expectKeptFromEveryone(patient, kind, bought)
  },
)

test.concurrent('an eSIM whose return is accepted and then fails is booked as lost', async () => {
  await store.admin('/manners', { offerId: 'TEST-ESIM-LATE', refund: 'fails' })
  const { orderId } = await expire(store, 'esim', 'LATE')
  await supplierSays(store, orderId, 'DONE')
  await refunded(store, orderId)
  expect(await toldSoon(store, orderId)).toEqual(['goods_lost'])
})

type Opened = Store

/** What operators hear of an order that would be looked at once a minute, looked at again and again. */
function toldSoon(at: Opened, orderId: string): Promise<string[]> {
  const hasten = 'update orders set due_at = now() where id = $1 and due_at is not null'
  return eventually(
    async () => {
      await at.query(hasten, [orderId])
      return reported(at, orderId)
    },
    (names) => names.length > 0,
  )
}

/** Buys, and is told that the goods did not come in time. */
async function expire(at: Opened, kind: Kind, outcome = 'HANG') {
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer, accepts } = await buy(at, buyer, kind, bodyFor(kind, outcome))
  const { orderId, accessToken } = answer.body
  expect(answer.status).toBe(202)
  expect(answer.body).toMatchObject({
    orders: [{ state: 'EXPIRED', agent_action: 'wait', result: null, error: { code: 'expired' } }],
    refund_state: 'REFUND_PENDING',
    refund_contract: { required_body: { reason: 'expired' } },
  })
  return { buyer, before, accepts, orderId, bearer: { authorization: `Bearer ${accessToken}` } }
}

const refunded = (at: Opened, orderId: string) =>
  until(at, orderId, ({ refund_state }) => refund_state === 'REFUNDED')

/**
 * The supplier delivered; nobody is shown the goods, the operator knows what became of them, and the buyer was paid
 * back once.
 */
async function expectKeptFromEveryone(
  at: Opened,
  kind: Kind,
  { orderId, bearer, buyer, before, accepts }: Awaited<ReturnType<typeof expire>>,
): Promise<void> {
  expect(await toldSoon(at, orderId)).toEqual([kind === 'esim' ? 'goods_returned' : 'goods_lost'])
  const [booked] = await eventually(
    () => bookedFor(at, orderId),
    ([entry]) => kind !== 'esim' || entry?.refunded === entry?.charged,
  )
  expect(booked).toMatchObject({ status: 'DONE', deliveries: 1 })
  const { body } = await get(at.url, `/api/catalog/orders/${orderId}`, bearer)
  expect(body.orders).toMatchObject([{ state: 'EXPIRED', agent_action: null, result: null }])
  const [row] = await at.query('select delivery, doc from orders where id = $1', [orderId])
  expect(row.delivery).toBeNull()
  const everything = JSON.stringify([body, row, at.logLines])
  for (const secret of booked?.secrets ?? []) expect(everything).not.toContain(secret)
  const paidBack = await transfersBetween(at.parts, at.refundWallet, buyer.address)
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
