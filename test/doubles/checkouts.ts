import { createLiveCatalog } from '../../src/catalog/catalog.ts'
import { type Checkout, type InvoicedCheckout, isInvoiced } from '../../src/checkouts/checkout.ts'
import type { CheckoutEvent, Processor } from '../../src/checkouts/ports.ts'
import { invoiceMethod, payoutWatch } from '../../src/checkouts/returns.ts'
import { type CheckoutForm, type StartDeps, startCheckout } from '../../src/checkouts/start.ts'
import type { Signals } from '../../src/health/verdict.ts'
import type { CheckoutId } from '../../src/lib/ids.ts'
import { fixturePayee } from '../../src/payments/payments.fixture.ts'
import { createQuotes } from '../../src/payments/terms.ts'
import { createDigest, createSigner } from '../../src/secrets/secrets.ts'
import { catalogOf } from '../fixtures/catalog.ts'
import { esim, fixed, fixturePricing, open, topup, voucher } from '../fixtures/offers.ts'
import { sweep, sweepCheckouts } from '../model/sweep.ts'
import { memoryCheckouts } from './memory-checkouts.ts'
import { memoryPayoutLimits } from './memory-payout-limits.ts'
import { memoryPayouts } from './memory-payouts.ts'
import { memoryProcessor } from './memory-processor.ts'
import { orderWorld, type Script } from './orders.ts'

const key = Buffer.alloc(32, 7)
const offers = [
  voucher('CARD', { price: fixed(2_000) }),
  voucher('OPEN', { price: open(500, 10_000, 250) }),
  esim('PLAN'),
  topup('CREDIT', { price: fixed(500) }),
]

/** The form of a person who buys the card with BTC. */
export const cardForm: CheckoutForm = {
  kind: 'voucher',
  fields: { offerId: 'CARD', firstName: 'Ada', lastName: 'Lovelace' },
  coin: 'BTC',
  refundTo: 'btc-address-of-ada',
  formKey: 'a'.repeat(32),
}

/** A store that accepts coins, with a processor in memory and a scripted supplier. */
export function checkoutWorld(
  changes: Partial<Script> = {},
  broken: (processor: Processor) => Processor = (processor) => processor,
) {
  const world = orderWorld(changes)
  const { clock, orders } = world
  const pricing = fixturePricing()
  const liveCatalog = createLiveCatalog()
  liveCatalog.replace(catalogOf(offers, pricing))
  const notes = new Map<string, string>()
  const hands = { find: async (reference: string) => notes.get(reference) }
  const processor = memoryProcessor({ now: clock.now, hands })
  const payoutLimits = memoryPayoutLimits({
    orders,
    caps: { hour: 10n ** 12n, day: 10n ** 12n },
    now: clock.now,
  })
  const reading: { read: Processor['read'] } = { read: processor.read }
  const asRead = broken({
    ...processor,
    read: (invoice, coin) => reading.read(invoice, coin),
  })
  const checkouts = memoryCheckouts({ now: clock.now, orders, payoutLimits })
  const events: CheckoutEvent[] = []
  const watchPayout = payoutWatch(memoryPayouts(clock.now), (told) => events.push(told))
  const says: { action: Signals['agent_action'] } = { action: 'pay' }
  const deps: StartDeps = {
    ...world.deps,
    payoutLimits,
    methods: {
      ...world.deps.methods,
      btcpay: invoiceMethod({ processor: asRead, hands, checkouts, watch: watchPayout }),
    },
    checkouts,
    processor: asRead,
    hands,
    reportCheckout: (event) => events.push(event),
    liveCatalog,
    pricing,
    payee: fixturePayee,
    quotes: createQuotes(createSigner([key], 'quote'), clock.now),
    health: {
      unsold: () => (says.action === 'stop' ? { type: 'paused' } : undefined),
      takesCoins: () => true,
    },
    marks: createDigest([key], 'checkouts'),
    readAddress: ({ coin }, text) =>
      text.startsWith(coin.toLowerCase())
        ? { outcome: 'good', address: text }
        : { outcome: 'bad', fault: 'wrong_coin' },
  }

  const start = (form: Partial<CheckoutForm> = {}) => startCheckout(deps, { ...cardForm, ...form })

  /** Lets this much time pass, and does everything that is due meanwhile. */
  async function live(ms: number): Promise<void> {
    const until = clock.now().getTime() + ms
    while (clock.now().getTime() < until) {
      await sweepCheckouts(deps, 10)
      await sweep(deps, 10)
      const next = Math.min(checkouts.nextDue(), clock.now().getTime() + 60_000, until)
      clock.pass(Math.max(250, next - clock.now().getTime()))
    }
  }

  async function seen(id: CheckoutId): Promise<Checkout> {
    const checkout = await checkouts.find(id)
    if (!checkout) throw new Error(`There is no checkout ${id}`)
    return checkout
  }

  return {
    ...world,
    deps,
    processor,
    /** How the processor reads an invoice, for a test to replace. */
    reading,
    payoutLimits,
    checkouts,
    notes,
    events,
    says,
    start,
    live,
    seen,
  }
}

export type CheckoutWorld = ReturnType<typeof checkoutWorld>

/** The checkout, which must have an invoice. @throws if it has none */
export function invoiced(checkout: Checkout): InvoicedCheckout {
  if (!isInvoiced(checkout)) throw new Error(`the checkout is ${checkout.state}`)
  return checkout
}

/** Starts a checkout whose invoice waits for its payment. */
export async function openCheckout(world: CheckoutWorld, form: Partial<CheckoutForm> = {}) {
  const { checkout, accessToken } = await world.start(form)
  const { invoice } = invoiced(checkout)
  return { id: checkout.id, orderId: checkout.orderId, invoice, accessToken }
}

/** The payouts that the processor was asked for, with their states. */
export const payoutsOf = ({ processor }: CheckoutWorld) =>
  [...processor.payouts.values()].map(({ reference, to, units, state }) => {
    return { reference, to, units, state }
  })

/** The returns of a checkout: units, reason and state of each. */
export const returnsOf = (checkout: Checkout) =>
  invoiced(checkout).returns.map(({ units, why, payout }) => [units, why, payout.state])
