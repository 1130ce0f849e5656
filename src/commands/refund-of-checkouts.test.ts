import { expect, test } from 'vitest'
import { cardForm, checkoutWorld, invoiced } from '../../test/doubles/checkouts.ts'
import { memoryProcessor } from '../../test/doubles/memory-processor.ts'
import {
  createHandPayouts,
  createPayoutLimits,
  createPayoutRecord,
} from '../adapters/storage/payouts.ts'
import { createCheckoutRecord } from '../adapters/storage/record.ts'
import { advanceCheckout } from '../checkouts/advance.ts'
import { invoiceMethod, payoutWatch } from '../checkouts/returns.ts'
import { startCheckout } from '../checkouts/start.ts'
import type { CheckoutId } from '../lib/ids.ts'
import { usdc } from '../lib/money.ts'
import { refundsCommand } from './refund.fixture.ts'

/** Returns of a coin, on the database of a store. */

const day = 86_400_000
const store = refundsCommand({ hour: usdc(10n ** 12n), day: usdc(10n ** 12n) })
const { caps, database, run, says } = store

/** A store on the database, with a processor in memory that knows what operators paid by hand. */
function storeWorld() {
  const world = checkoutWorld()
  const { clock } = world
  const [checkouts, orders] = [store.checkouts(), store.orders()]
  const hands = createHandPayouts(database())
  const watch = payoutWatch(createPayoutRecord(database()), world.deps.reportCheckout)
  const shown = memoryProcessor({ now: clock.now, hands })
  const denied = new Set<string>()
  const denylist = new Set<string>()
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
    denylist,
    payoutLimits: createPayoutLimits(database(), caps),
    methods: {
      ...world.deps.methods,
      btcpay: invoiceMethod({ processor, hands, checkouts, watch }),
    },
  }
  const at = async (id: CheckoutId) => {
    const checkout = await checkouts.find(id)
    if (!checkout) throw new Error(`There is no checkout ${id}`)
    return invoiced(checkout)
  }
  return {
    ...{ clock, denylist, processor },
    /** The processor shows this payment as one that was never confirmed. */
    deny: (payment: string) => denied.add(payment),
    start: async () => invoiced((await startCheckout(deps, cardForm)).checkout),
    goOn: async (id: CheckoutId) => invoiced(await advanceCheckout(deps, await at(id))),
  }
}

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

test('a return whose money is not shown any more is dropped by an operator, and its checkout closes', async () => {
  const { world, id } = await deniedReturn()
  world.clock.pass(30 * day)
  expect(await world.goOn(id)).not.toHaveProperty('closedAt')
  expect(await run('drop', `${id}-1`)).toEqual({
    isDone: true,
    lines: [`${id}-1: dropped; nothing is owed`],
  })
  const waiting = await database().query(
    'select from processor_payouts where waits_since is not null',
  )
  expect(waiting.rowCount).toBe(0)
  expect(await says('status')).not.toContain(id)
  for (const does of ['drop', 'retry'] as const) {
    expect(await run(does, `${id}-1`)).toEqual({
      isDone: false,
      lines: [`${id}-1: its payment vanished, so nothing is owed`],
    })
  }
  expect(await world.goOn(id)).toHaveProperty('closedAt')
  const record = createCheckoutRecord(database())
  expect(await record.misbooked()).toEqual([])
  expect((await record.ledger()).get('BTC')).toMatchObject({ received: 0n, due: 0n, kept: 0n })
})

test('a return to an address that was listed meanwhile is held until a person releases it', async () => {
  const world = storeWorld()
  const { id, invoice } = await world.start()
  world.denylist.add(cardForm.refundTo ?? '')
  world.processor.pay(invoice.id, invoice.units / 2n)
  world.clock.pass(day / 2)
  const reference = `${id}-1`
  expect(await world.goOn(id)).toMatchObject({
    returns: [{ payout: { state: 'FAILED', code: 'payee_declined' } }],
  })
  const [told, how] = [/payee is on the denylist: 1/, /refund release REFERENCE --reason/]
  for (const text of [told, how, reference]) expect(await says('status')).toMatch(text)
  expect(await says('release', reference, '--reason', 'Licence 7')).toContain('released')
  expect(await world.goOn(id)).toMatchObject({ returns: [{ payout: { state: 'CONFIRMED' } }] })
})
