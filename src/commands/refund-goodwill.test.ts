import { expect, test, vi } from 'vitest'
import { makeAddress } from '../../sandbox/btcpay/addresses.ts'
import { orderWorld } from '../../test/doubles/orders.ts'
import { moveOn, opened, opening, ordered, orderOf } from '../../test/fixtures/sample-checkouts.ts'
import {
  asked,
  expectWon,
  fulfilled,
  fulfilling,
  orderOnRecord,
  payer,
} from '../../test/fixtures/sample-orders.ts'
import { begin, storeId } from '../adapters/btcpay/sandbox.fixture.ts'
import { exposureOf, orderFacts } from '../adapters/storage/facts.ts'
import { createGoodwillStore, readGoodwill } from '../adapters/storage/goodwill.ts'
import { createHandPayouts, createPayoutLimits } from '../adapters/storage/payouts.ts'
import { invoiceMethod } from '../checkouts/returns.ts'
import type { OrderId } from '../lib/ids.ts'
import { usdc } from '../lib/money.ts'
import { goodwillReferenceOf, goodwillSweeper } from '../orders/goodwill.ts'
import type { In, Order } from '../orders/order.ts'
import { type Coin, formatUnits } from '../payments/coins.ts'
import type { InvoiceMethod } from '../payments/payment.ts'
import { refundsCommand } from './refund.fixture.ts'

/** Goodwill from the command to the payout, on the database of a store whose method is scripted. */

const store = refundsCommand({ hour: usdc(10_000_000n), day: usdc(15_000_000n) })
const { audit, caps, database, orders } = store

async function refunds(...args: readonly string[]) {
  const { isDone, lines } = await store.run(...args)
  return { isDone, text: lines.join('\n') }
}

const give = (id: OrderId, amount: string) =>
  refunds('goodwill', id, amount, '--reason', 'The code was used')

async function delivered(): Promise<OrderId> {
  return (await orderOnRecord(orders(), fulfilled(asked()))).id
}

/** A store whose method answers as scripted, and how it looks at what is due. */
function storeWorld(btcpay?: InvoiceMethod) {
  const world = orderWorld()
  const methods = { ...world.deps.methods, ...(btcpay && { btcpay }) }
  const goodwill = createGoodwillStore(database())
  const denylist = new Set<string>()
  const payoutLimits = createPayoutLimits(database(), caps)
  const deps = { ...world.deps, now: () => new Date(), methods, goodwill, denylist, payoutLimits }
  const sweeper = goodwillSweeper(deps, 5)
  return {
    ...world,
    denylist,
    async look(id: OrderId) {
      await goodwill.hasten(id)
      await sweeper.look(5)
      await sweeper.settled()
      return (await goodwill.find(id))?.payout
    },
  }
}

test('is paid once, from the float, and booked', async () => {
  const { look, calls } = storeWorld()
  const id = await delivered()
  expect(await give(id, '5')).toEqual({
    isDone: true,
    text: `${id}: gives 5.00 USDC to ${payer}; the running store pays it`,
  })
  expect(await exposureOf(database())).toBe(5_000_000n)
  expect((await refunds('status')).text).toMatch(
    new RegExp(`${id}-goodwill +5.00 USDC  to 0x.*  DUE`),
  )
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED', transaction: `0x${'b'.repeat(64)}` })
  await look(id)
  expect(calls).toEqual(['sign', 'payBack'])
  expect(await readGoodwill(database())).toMatchObject([
    { id, amount: 5_000_000n, reason: 'The code was used', by: 'ada' },
  ])
  await give(id, '5')
  expect(await audit()).toEqual([['ada', 'refund goodwill', `order:${id}`]])
  expect(await exposureOf(database())).toBe(0n)
  const status = (await refunds('status')).text
  expect(status).toContain('Goodwill granted in the last hour 5.00 of 10.00 USDC')
  expect(status).not.toContain(id)
})

test('is refused in words', async () => {
  const { id } = await orderOnRecord(orders(), asked())
  expect((await give(id, '5')).text).toContain('it is FULFILLING')
  expect((await give(await delivered(), '99')).text).toContain('its price was 12.50 USDC')
})

test('waits for the caps and the switch, and the refunds of others do not wait for it', async () => {
  const { look, reports } = storeWorld()
  const [first, second] = [await delivered(), await delivered()]
  await give(first, '8')
  expect(await look(first)).toMatchObject({ state: 'CONFIRMED' })
  await give(second, '8')
  expect(await look(second)).toEqual({ state: 'DUE' })
  expect(reports).toEqual([{ name: 'goodwill_held', order: second, reason: 'hour_cap' }])
  const { rows } = await database().query(
    `select kind, sum(amount)::text from payout_grants group by kind`,
  )
  expect(rows).toEqual([{ kind: 'goodwill', sum: '8000000' }])

  await database().query(`begin; set local session_replication_role = replica;
    update payout_grants set granted_at = granted_at - interval '2 hours'; commit`)
  await refunds('stop', '--reason', 'a test')
  expect(await look(second)).toEqual({ state: 'DUE' })
  await refunds('start')
  expect(await look(second)).toEqual({ state: 'DUE' })
  expect(reports.at(-1)).toMatchObject({ reason: 'day_cap' })
})

test('that can never be paid is dropped: nobody waits for it, and a retry gives it again', async () => {
  const { look, denylist } = storeWorld()
  const id = await delivered()
  const reference = goodwillReferenceOf(id)
  expect((await refunds('drop', reference)).text).toContain('no goodwill was given')
  await give(id, '5')
  expect((await refunds('drop', reference)).text).toContain('it has not failed; it is DUE')
  denylist.add(payer.toLowerCase())
  await look(id)
  expect(await orderFacts(database())).toMatchObject({ goodwillFailed: 1, exposure: 5_000_000n })

  expect(await refunds('drop', reference)).toEqual({
    isDone: true,
    text: `${reference}: dropped; nothing is owed`,
  })
  expect(await orderFacts(database())).toMatchObject({ goodwillFailed: 0, exposure: 0n })
  expect((await refunds('status')).text).not.toContain(id)
  expect((await refunds('retry', '--all')).text).toBe('No refund has failed.')
  expect((await give(id, '5')).text).toContain('ada gave 5.00 USDC for it already')

  denylist.clear()
  expect((await refunds('retry', reference)).isDone).toBe(true)
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED' })
})

test('to a payee who was listed meanwhile is held until a person releases it', async () => {
  const { look, denylist } = storeWorld()
  const id = await delivered()
  const reference = goodwillReferenceOf(id)
  await give(id, '5')
  denylist.add(payer.toLowerCase())
  await look(id)
  const { text } = await refunds('status')
  expect(text).toContain('Refunds held, because the payee is on the denylist: 1, 5.00 USDC')
  expect(text).toContain('kiosk402 refund release REFERENCE --reason')
  const release = () => refunds('release', reference, '--reason', 'Allowed by licence 7')
  expect(await release()).toEqual({ isDone: true, text: `${reference}: released, and due again` })
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED' })
  expect((await release()).text).toContain('it has not failed; it is CONFIRMED')
})

test('that failed waits for a person, and a retry sends what was signed', async () => {
  const { look, script, denylist, reports, calls } = storeWorld()
  const id = await delivered()
  const reference = goodwillReferenceOf(id)
  await give(id, '5')
  denylist.add(payer.toLowerCase())
  expect(await look(id)).toMatchObject({ state: 'FAILED', code: 'payee_declined' })
  expect(reports).toEqual([{ name: 'goodwill_failed', order: id, reason: 'payee_declined' }])
  denylist.clear()
  const reason = 'The refund wallet does not hold enough USDC.'
  script.paidBack = { outcome: 'blocked', code: 'no_float', reason, mayStillPay: true }
  expect((await refunds('retry', reference)).text).toBe(`${reference}: due again`)
  expect(await look(id)).toMatchObject({ state: 'FAILED', code: 'no_float' })
  script.paidBack = { outcome: 'paid', transaction: `0x${'b'.repeat(64)}` }
  await refunds('retry', '--all')
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED' })
  expect(calls).toEqual(['sign', 'payBack', 'payBack'])
  expect((await refunds('retry', reference)).text).toBe(
    `${reference}: it has not failed; it is CONFIRMED`,
  )
})

/** An order that was delivered, and paid in this coin at the stand-in of BTCPay Server. */
async function deliveredFor(coin: Coin, network: string) {
  const { processor, open, get } = await begin()
  const { pay, read, invoice } = await open(coin)
  await pay(invoice.units)
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'SETTLED' }))
  const refundTo = makeAddress(coin, 'goodwill', 'buyer')
  const first = opening({ coin, network, refundTo })
  const { checkout } = await store.checkouts().open(first)
  const unpaid = await moveOn(store.records, checkout, opened(first, invoice))
  const { payments } = await read()
  const paid = await moveOn(store.records, unpaid, ordered(unpaid, payments))
  const at = new Date()
  const receipt = { method: 'btcpay', transaction: payments[0]?.transaction ?? '' } as const
  let order: Order = (await orders().open(orderOf(paid), [])).order
  const settled = { receipt, settlement: 'FINAL', paidAt: at, deliverBy: at } as const
  const bought = { ...(order as In<'PAYMENT_PENDING'>), state: 'PAID', ...settled } as const
  for (const next of [bought, fulfilling(bought), fulfilled(fulfilling(bought))]) {
    order = expectWon(await orders().move(order, next))
  }
  const hands = createHandPayouts(database())
  const watch = async (_: string, paidBack: object) => paidBack as never
  const method = invoiceMethod({ processor, hands, checkouts: store.checkouts(), watch })
  const { look } = storeWorld(method)
  return {
    ...{ id: order.id, refundTo, look, units: paid.price },
    /** What BTCPay was asked to pay, by name. */
    async pulls() {
      const listed = await get(`/stores/${storeId}/pull-payments?includeArchived=true`)
      return (listed as { name: string; amount: string }[]).map(({ name, amount }) => ({
        name,
        amount,
      }))
    },
  }
}

test('for an order in BTC goes out through BTCPay Server under its own reference, once', async () => {
  const { id, refundTo, look, units, pulls } = await deliveredFor('BTC', 'Bitcoin')
  const amount = formatUnits((units * 5_000_000n) / 12_500_000n, 'BTC')
  const given = `${id}: gives ${amount} BTC to ${refundTo}; the running store pays it`
  expect(await give(id, '5')).toEqual({ isDone: true, text: given })
  expect((await refunds('status')).text).toContain(`${amount} BTC on Bitcoin  to ${refundTo}  DUE`)
  expect(await exposureOf(database())).toBe(0n)
  await vi.waitFor(async () => expect(await look(id)).toMatchObject({ state: 'CONFIRMED' }))
  await look(id)
  expect((await give(id, '5')).isDone).toBe(false)
  expect(await pulls()).toEqual([{ name: `${id}-goodwill`, amount }])
  expect((await refunds('status')).text).toContain('Goodwill granted in the last hour 5.00 of 10')
})

test('in a coin is never signed for more of it than was given', async () => {
  const { id, units } = await deliveredFor('BTC', 'Bitcoin')
  await give(id, '5')
  const [due] = await readGoodwill(database())
  if (due?.payment.method !== 'btcpay') throw new Error('goodwill in a coin was given')
  const { amount, payment } = due
  const reference = goodwillReferenceOf(id)
  await createPayoutLimits(database(), caps).allow(reference)
  const { invoice, network, payer: to } = payment
  const signed = { method: 'btcpay', invoice, network, to, amount, reference } as const
  const signFor = (signedUnits: bigint) => {
    const payout = { state: 'APPROVED', signed: { ...signed, units: signedUnits } } as const
    return createGoodwillStore(database()).move(due, { ...due, payout })
  }
  const given = (units * 5_000_000n) / 12_500_000n
  await expect(signFor(given + 1n)).rejects.toThrow('is what was given')
  expect((await signFor(given)).won).toBe(true)
})

test('in Monero waits for a person, who pays it and says so', async () => {
  const { id, refundTo, look, pulls } = await deliveredFor('XMR', 'Monero')
  await give(id, '5')
  expect(await look(id)).toMatchObject({ state: 'FAILED', code: 'operator_pays' })
  expect((await refunds('status')).text).toMatch(
    new RegExp(`to be paid by you.*: 1, .*\\n  ${id}-goodwill .* XMR on Monero  to ${refundTo}`),
  )
  const transaction = 'ab'.repeat(32)
  expect((await refunds('paid', goodwillReferenceOf(id), transaction)).isDone).toBe(true)
  expect(await look(id)).toMatchObject({ state: 'CONFIRMED', transaction })
  expect(await pulls()).toEqual([])
})
