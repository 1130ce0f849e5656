import type { Pool } from 'pg'
import { beforeEach, expect, test } from 'vitest'
import { cardForm, checkoutWorld, invoiced } from '../../test/doubles/checkouts.ts'
import { memoryProcessor } from '../../test/doubles/memory-processor.ts'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import {
  createHandPayouts,
  createPayoutLimits,
  createPayoutRecord,
} from '../adapters/storage/payouts.ts'
import { createCheckoutRecord } from '../adapters/storage/record.ts'
import { advanceCheckout } from '../checkouts/advance.ts'
import { invoiceRail, payoutWatch } from '../checkouts/rail.ts'
import { type CheckoutForm, startCheckout } from '../checkouts/start.ts'
import type { CheckoutId } from '../lib/ids.ts'
import { usdc } from '../lib/money.ts'
import { carryOut } from './refunds.ts'

/** Purchases in a coin, from the form to the return, on the database of a store. */

const caps = { hour: usdc(10n ** 12n), day: usdc(10n ** 12n) }
const day = 86_400_000

const postgres = migratedPostgres()
let database: Pool

beforeEach(async () => {
  database = await postgres.open()
  return () => database.end()
})

/** A store on the database, with a processor in memory that knows what operators paid by hand. */
function storeWorld() {
  const world = checkoutWorld()
  const { clock } = world
  const checkouts = createCheckoutStore(database)
  const orders = createOrderStore(database)
  const hands = createHandPayouts(database)
  const watch = payoutWatch(createPayoutRecord(database), world.deps.reportCheckout)
  const shown = memoryProcessor({ now: clock.now, hands })
  const denied = new Set<string>()
  const processor: typeof shown = {
    ...shown,
    async read(...asked) {
      const answer = await shown.read(...asked)
      if (answer.outcome === 'unknown') return answer
      const payments = answer.invoice.payments.map((one) =>
        denied.has(one.id) ? { ...one, status: 'INVALID' as const } : one,
      )
      return { ...answer, invoice: { ...answer.invoice, payments } }
    },
  }
  const deps: typeof world.deps = {
    ...world.deps,
    checkouts,
    orders,
    processor,
    hands,
    payoutLimits: createPayoutLimits(database, caps),
    rails: { ...world.deps.rails, btcpay: invoiceRail({ processor, hands, checkouts, watch }) },
  }
  const at = async (id: CheckoutId) => {
    const checkout = await checkouts.find(id)
    if (!checkout) throw new Error(`There is no checkout ${id}`)
    return invoiced(checkout)
  }
  return {
    ...{ clock, processor, orders, at },
    /** The processor shows this payment as one that was never confirmed. */
    deny: (payment: string) => denied.add(payment),
    start: async (form: Partial<CheckoutForm> = {}) => {
      const { checkout } = await startCheckout(deps, { ...cardForm, ...form })
      return invoiced(checkout)
    },
    goOn: async (id: CheckoutId) => invoiced(await advanceCheckout(deps, await at(id))),
  }
}

test('what is paid becomes an order with its goods, and what came beside it goes back', async () => {
  const world = storeWorld()
  const { id, orderId, invoice } = await world.start()
  world.processor.pay(invoice.id, 2n * invoice.units)
  const paid = await world.goOn(id)
  expect(paid).toMatchObject({ state: 'ORDERED', isPlaced: true, price: invoice.units })
  expect(paid.returns).toMatchObject([
    { units: invoice.units, why: 'surplus', payout: { state: 'CONFIRMED' } },
  ])
  expect(await world.orders.find(orderId)).toMatchObject({
    state: 'FULFILLED',
    tender: { rail: 'btcpay', invoice: invoice.id, units: invoice.units },
  })
  world.clock.pass(30 * day)
  expect(await world.goOn(id)).toHaveProperty('closedAt')
  const sources = createCheckoutRecord(database)
  expect(await sources.misbooked()).toEqual([])
  expect((await sources.ledger()).get('BTC')).toEqual({
    ...{ received: 2n * invoice.units, price: -invoice.units, due: 0n },
    ...{ returned: -invoice.units, kept: 0n },
  })
})

/** An underpaid checkout whose return waits at the processor, and whose payment is denied for good. */
async function deniedReturn() {
  const world = storeWorld()
  const { id, invoice } = await world.start()
  world.processor.rules.holdsPayouts = true
  const { id: payment } = world.processor.pay(invoice.id, invoice.units / 2n)
  world.clock.pass(day / 2)
  expect(await world.goOn(id)).toMatchObject({ returns: [{ payout: { state: 'APPROVED' } }] })
  world.deny(payment)
  expect(await world.goOn(id)).toMatchObject({
    returns: [{ payout: { state: 'FAILED', code: 'payment_not_shown' } }],
  })
  return { world, id, invoice }
}

const operator = () => ({ database, caps, by: 'ada@console' })

test('a return whose money is not shown any more is dropped by an operator, and its checkout closes', async () => {
  const { world, id } = await deniedReturn()
  world.clock.pass(30 * day)
  expect(await world.goOn(id)).not.toHaveProperty('closedAt')
  const drop = { does: 'drop', names: [`${id}-1`] } as const
  expect(await carryOut(operator(), drop)).toEqual({
    isDone: true,
    lines: [`${id}-1: dropped; nothing is owed`],
  })
  const waiting = await database.query(
    'select from processor_payouts where waits_since is not null',
  )
  expect(waiting.rowCount).toBe(0)
  const { lines } = await carryOut(operator(), { does: 'status' })
  expect(lines.join('\n')).not.toContain(id)
  for (const does of ['drop', 'retry'] as const) {
    expect(await carryOut(operator(), { does, names: [`${id}-1`] })).toEqual({
      isDone: false,
      lines: [`${id}-1: its payment vanished, so nothing is owed`],
    })
  }
  expect(await world.goOn(id)).toHaveProperty('closedAt')
  const record = createCheckoutRecord(database)
  expect(await record.misbooked()).toEqual([])
  expect((await record.ledger()).get('BTC')).toMatchObject({ received: 0n, due: 0n, kept: 0n })
})

test('a return that was dropped makes room for another one of what is shown', async () => {
  const { world, id, invoice } = await deniedReturn()
  await carryOut(operator(), { does: 'drop', names: [`${id}-1`] })
  world.processor.rules.holdsPayouts = false
  const { units } = world.processor.pay(invoice.id, invoice.units / 4n)
  expect(await world.goOn(id)).toMatchObject({
    returns: [{ payout: { code: 'payment_vanished' } }, { units, payout: { state: 'CONFIRMED' } }],
  })
  world.clock.pass(30 * day)
  expect(await world.goOn(id)).toHaveProperty('closedAt')
  const record = createCheckoutRecord(database)
  expect(await record.misbooked()).toEqual([])
  expect((await record.ledger()).get('BTC')).toMatchObject({ received: units, returned: -units })
})

test('an operator pays what the processor cannot, says so, and the store books it', async () => {
  const world = storeWorld()
  const operator = { database, caps, by: 'ada@console' }
  const { id, invoice } = await world.start({ coin: 'XMR', refundTo: 'xmr-address-of-ada' })
  world.processor.pay(invoice.id, invoice.units / 2n)
  world.clock.pass(day)
  const failed = await world.goOn(id)
  expect(failed).toMatchObject({ state: 'ENDED', returns: [{ payout: { code: 'operator_pays' } }] })
  const { lines } = await carryOut(operator, { does: 'hand' })
  expect(lines.join('\n')).toMatch(/ XMR on Monero\n {6}to xmr-address-of-ada\n/)
  const transaction = 'd'.repeat(64)
  const noted = await carryOut(operator, { does: 'paid', reference: `${id}-1`, transaction })
  expect(noted.isDone).toBe(true)
  const sent = await world.goOn(id)
  expect(sent.returns).toMatchObject([{ payout: { state: 'CONFIRMED', transaction } }])
  expect(await createCheckoutRecord(database).misbooked()).toEqual([])
})
