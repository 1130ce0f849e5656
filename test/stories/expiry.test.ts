import { expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { bookedFor, lifeOf, reported } from './facts.ts'
import { bodyFor, buy, eventually, get, type Kind, supplierSays, until } from './requests.ts'
import { type Store, useStore } from './store.ts'

const deadlineMs = 2_000
const graceMs = 3_000
const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']
const gone = ['PAYMENT_PENDING', 'PAID', 'FULFILLING', 'EXPIRED']

// The call waits longer than the deadline, so that its worker is there to see it pass.
const env = { FULFILLMENT_DEADLINE_SECONDS: '2', PURCHASE_WAIT_SECONDS: '25' }
const store = useStore({ env: { ...env, REFUND_GRACE_SECONDS: '3' } })
/** Where the grace ends only by what the supplier says. */
const patient = useStore({ env: { ...env, REFUND_GRACE_SECONDS: '600' } })

test.concurrent('HANG expires, reads REFUND_PENDING at once, and is paid back after the grace', () =>
  everyKind(async (kind) => {
    const { buyer, before, accepts, orderId, bearer } = await expire(store, kind, 'HANG')
    const order = await refunded(store, orderId, bearer)
    expect(order.orders).toMatchObject([{ state: 'EXPIRED', agent_action: null, result: null }])
    await expectPaidBack(store, buyer, before, accepts.amount)
    const life = await lifeOf(store, orderId)
    expect(life.states).toEqual(gone)
    expect(life.refunds).toEqual(['WAITING', 'DUE', 'APPROVED', 'CONFIRMED'])
    const { expiredAfterMs, signedAfterMs } = await timesOf(store, orderId)
    expect(expiredAfterMs).toBeGreaterThanOrEqual(deadlineMs)
    expect(signedAfterMs).toBeGreaterThanOrEqual(graceMs)

    await supplierSays(store, orderId, 'DONE')
    await expectKeptFromEveryone(store, kind, orderId, bearer)
    await expectPaidBack(store, buyer, before, accepts.amount)
  }))

test.concurrent('LATE goods are kept from everyone, and given back or booked', () =>
  everyKind(async (kind) => {
    const { buyer, before, accepts, orderId, bearer, send } = await expire(patient, kind, 'LATE')
    await supplierSays(patient, orderId, 'DONE')
    await expectKeptFromEveryone(patient, kind, orderId, bearer)
    const { body } = await send(bearer)
    expect(body.orders).toMatchObject([{ state: 'EXPIRED', result: null }])
    await refunded(patient, orderId)
    await expectKeptFromEveryone(patient, kind, orderId, bearer)
    await expectPaidBack(patient, buyer, before, accepts.amount)
    expect(await lifeOf(patient, orderId)).toEqual({
      states: gone,
      refunds: ['WAITING', 'DUE', 'APPROVED', 'CONFIRMED'],
    })
  }))

test.concurrent('what was accepted and never shown is waited for, and seen days after its refund', async () => {
  const delivers = { offerId: 'TEST-TOPUP-SLOW', endsAfterMs: 100 }
  await store.admin('/manners', { ...delivers, hiddenMs: 600_000 })
  const { orderId, bearer, buyer, before, accepts } = await expire(store, 'topup', 'SLOW')
  await refunded(store, orderId)
  const { signedAfterMs } = await timesOf(store, orderId)
  expect(signedAfterMs).toBeGreaterThanOrEqual(graceMs)
  await store.admin('/manners', delivers)
  await toldSoon(orderId)
  await expectKeptFromEveryone(store, 'topup', orderId, bearer)
  await expectPaidBack(store, buyer, before, accepts.amount)
})

test.concurrent('an eSIM whose return is accepted and then fails is booked as lost', async () => {
  await store.admin('/manners', { offerId: 'TEST-ESIM-LATE', refund: 'fails' })
  const { orderId } = await expire(store, 'esim', 'LATE')
  await supplierSays(store, orderId, 'DONE')
  await refunded(store, orderId)
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
async function expire(at: Store, kind: Kind, outcome: string) {
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { answer, send, accepts } = await buy(at, buyer, kind, bodyFor(kind, outcome))
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

function refunded(at: Store, orderId: string, headers: Record<string, string> = {}) {
  return until(at, orderId, ({ refund_state }) => refund_state === 'REFUNDED', headers)
}

/** One transfer of the whole price, and the buyer has what it had. */
async function expectPaidBack(
  { parts, refundWallet }: Store,
  buyer: Buyer,
  before: bigint,
  amount: string,
): Promise<void> {
  expect(await buyer.balance()).toBe(before)
  expect(await transfersBetween(parts, refundWallet, buyer.address)).toMatchObject([
    { value: BigInt(amount) },
  ])
}

/** The supplier delivered; nobody is shown the goods, and the operator knows what became of them. */
async function expectKeptFromEveryone(
  at: Store,
  kind: Kind,
  orderId: string,
  bearer: Record<string, string>,
): Promise<void> {
  const told = await eventually(
    () => reported(at, orderId),
    (names) => names.length > 0,
  )
  expect(told).toEqual([kind === 'esim' ? 'goods_returned' : 'goods_lost'])
  const [booked] = await eventually(
    () => bookedFor(at, orderId),
    ([entry]) => kind !== 'esim' || entry?.refunded === entry?.charged,
  )
  expect(booked).toMatchObject({ status: 'DONE', deliveries: 1 })
  if (kind !== 'esim') expect(booked?.refunded).toBe(0)

  const { body } = await get(at.url, `/api/catalog/orders/${orderId}`, bearer)
  expect(body.orders).toMatchObject([{ state: 'EXPIRED', result: null }])
  const [row] = await at.query('select delivery, doc from orders where id = $1', [orderId])
  expect(row.delivery).toBeNull()
  const everything = JSON.stringify([body, row, at.logLines])
  for (const secret of booked?.secrets ?? []) expect(everything).not.toContain(secret)
}

/** From the payment to the end of the order, and from there to the signature of its refund. */
async function timesOf(at: Store, orderId: string) {
  const [{ paid, expired, signed }] = await at.query(
    `select (doc #>> '{paidAt,$date}')::timestamptz as paid, changed_at as expired,
      (select min(at) from order_events where order_id = id and payout_state = 'APPROVED') as signed
     from orders where id = $1`,
    [orderId],
  )
  return { expiredAfterMs: expired - paid, signedAfterMs: signed - expired }
}
