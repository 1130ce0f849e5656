import {
  type Checkout,
  type InvoicedCheckout,
  isInvoiced,
  seenUnits,
} from '../../checkouts/checkout.ts'
import type { Processor } from '../../checkouts/ports.ts'
import { never } from '../../lib/never.ts'
import { coinAbilities } from '../../payments/coins.ts'
import { type BoughtDeps, boughtOf } from '../bought.ts'
import type { CheckoutStage, CheckoutView } from './service.ts'

interface ViewDeps extends BoughtDeps {
  readonly processor: Pick<Processor, 'sends'>
  readonly now: () => Date
}

/**
 * A checkout as its page shows it. Whoever is not its owner learns what it is for and how far it is,
 * and nothing that could be paid to or that says who pays.
 */
export function checkoutView(deps: ViewDeps, checkout: Checkout, isOwner: boolean): CheckoutView {
  const { id, orderId, item, amount, coin, network } = checkout
  const now = deps.now()
  const stage = stageOf(checkout, now)
  return {
    id,
    orderId,
    kind: item.kind,
    offerId: item.offerId,
    brandName: item.brandName,
    amount,
    coin,
    network,
    abilities: { ...coinAbilities[coin], isSent: deps.processor.sends(coin) },
    isOwner,
    stage,
    startedAt: checkout.startedAt,
    ...(isOwner && isInvoiced(checkout) ? { invoice: invoiceOf(checkout) } : {}),
    ...(isOwner ? { bought: boughtOf(deps, checkout), refundTo: checkout.refundTo } : {}),
    returns: isOwner && isInvoiced(checkout) ? checkout.returns : [],
    now,
    // The end of the time alone changes the page, and nothing on record.
    version: stage === 'closing' ? `${checkout.version}-over` : String(checkout.version),
  }
}

function stageOf(checkout: Checkout, now: Date): CheckoutStage {
  switch (checkout.state) {
    case 'OPENING':
      return 'opening'
    case 'REFUSED':
      return 'refused'
    case 'OPEN':
      return checkout.goneAt ? 'unwatched' : waitingStage(checkout, now)
    case 'ORDERED':
      return 'paid'
    case 'ENDED':
      return 'expired'
    default:
      return never(checkout)
  }
}

function waitingStage({ invoice }: InvoicedCheckout, now: Date): CheckoutStage {
  const seen = seenUnits(invoice)
  if (invoice.status === 'PROCESSING' || seen >= invoice.units) return 'confirming'
  if (now >= invoice.expiresAt) return 'closing'
  return seen > 0n ? 'partly_paid' : 'waiting'
}

function invoiceOf({ invoice, startedAt }: InvoicedCheckout): NonNullable<CheckoutView['invoice']> {
  const { id, address, paymentLink, rate, units, expiresAt, watchedUntil } = invoice
  const seen = seenUnits(invoice)
  const remaining = seen < units ? units - seen : 0n
  return {
    ...{ id, address, paymentLink, rate, units, expiresAt, watchedUntil },
    ...{ seen, remaining, openedAt: startedAt },
  }
}
