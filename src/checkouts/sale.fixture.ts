import {
  type CheckoutWorld,
  checkoutWorld,
  invoiced,
  openCheckout,
  payoutsOf,
  returnsOf,
} from '../../test/doubles/checkouts.ts'
import type { Script } from '../../test/doubles/orders.ts'
import type { InvoicePayment } from './checkout.ts'
import type { InvoiceRead } from './ports.ts'
import type { CheckoutForm } from './start.ts'

export const minute = 60_000
export const hour = 60 * minute
export const day = 24 * hour

export const declining: Partial<Script> = {
  held: { outcome: 'declined', code: 'NO', reason: 'no' },
}

/** A checkout whose invoice waits for its payment, in a world of its own unless one is given. */
export async function openSale(
  form: Partial<CheckoutForm> = {},
  world: CheckoutWorld = checkoutWorld(),
) {
  const { id, orderId, invoice, accessToken } = await openCheckout(world, form)
  const { processor, reading } = world
  const seen = async () => invoiced(await world.seen(id))
  return {
    ...{ ...world, id, orderId, invoice, accessToken, units: invoice.units, seen },
    /** The buyer pays so many units. */
    pay: (units: bigint, how?: Parameters<typeof processor.pay>[2]) =>
      processor.pay(invoice.id, units, how),
    order: () => world.orders.find(orderId),
    returns: async () => returnsOf(await seen()),
    payouts: () => payoutsOf(world),
    isClosed: async () => (await seen()).closedAt !== undefined,
    told: (name: string) => world.events.filter((event) => event.name === name),
    /** From now on the processor answers like this, until `shows` is called. */
    answers: (answer: InvoiceRead) => {
      reading.read = async () => answer
    },
    /** The processor shows its invoices, with these payments. */
    shows: (
      change: (all: readonly InvoicePayment[]) => readonly InvoicePayment[] = (all) => all,
    ) => {
      reading.read = async (...asked) => {
        const answer = await processor.read(...asked)
        if (answer.outcome === 'unknown') return answer
        const payments = change(answer.invoice.payments)
        return { ...answer, invoice: { ...answer.invoice, payments } }
      }
    },
  }
}

/** Payments of which these were never confirmed, because others replaced them. */
export const denying =
  (...ids: readonly string[]) =>
  (all: readonly InvoicePayment[]) =>
    all.map((one) => (ids.includes(one.id) ? { ...one, status: 'INVALID' as const } : one))
