import { orNotNow } from '../../api/buying/or-not-now.ts'
import type { CheckoutService, StartedCheckout } from '../../api/checkout.ts'
import type { FaultLog } from '../../api/deps.ts'
import type { Offer } from '../../catalog/offer.ts'
import { type Retail, retailOf } from '../../catalog/pricing.ts'
import type { OrderId } from '../../lib/ids.ts'
import { formatUsdc, usdcFromCents } from '../../lib/money.ts'
import { type Fault, Refusal, rules } from '../../lib/refusal.ts'
import type { Coin } from '../../payments/coins.ts'
import type { Payee } from '../../payments/terms.ts'
import type { WebDeps } from '../frame/deps.ts'
import type { Texts } from '../texts/texts.ts'
import {
  checkoutFormOf,
  type FormFaults,
  faultsIn,
  formFieldsOf,
  isDearer,
  names,
  noFaults,
  readTyped,
  seenOf,
  type Typed,
} from './form.ts'

export interface FormAgain {
  readonly type: 'again'
  readonly status: number
  readonly typed: Typed
  readonly faults: FormFaults
  readonly notice?: string
  /** Whole seconds after which the same form may be accepted. */
  readonly retryAfterSeconds?: number | undefined
}

type FormTaken =
  | ({ readonly type: 'started' } & StartedCheckout)
  /** The form of this page does not send such data. */
  | { readonly type: 'strange' }
  | FormAgain

/**
 * Starts a checkout from a form. A person is never charged more than the form said: if the price rose,
 * the form shows the new one first.
 *
 * @throws Refusal `offer_not_found`
 */
export async function startFrom(
  deps: Pick<WebDeps, 'pricing' | 't'> & Pick<PayingDeps, 'checkout' | 'leaveMail'>,
  offer: Offer,
  sent: URLSearchParams,
  log: FaultLog,
): Promise<FormTaken> {
  const { pricing, t, checkout } = deps
  const retail = retailOf(offer, pricing)
  const methods = checkout?.methods ?? []
  const typed = readTyped(sent, formFieldsOf(offer, deps, retail), methods)
  if (typed === undefined) return { type: 'strange' }
  const again: FormAgain = { type: 'again', status: 422, typed, faults: noFaults }
  // The page itself says why the offer is not sold.
  if (retail.type === 'NOT_SOLD') return { ...again, status: rules.offer_unavailable.status }
  if (isDearer(typed.seen, retail, pricing.markupBps)) return dearer(again, retail, deps)
  // Without a processor only wallets can pay, and they do not send this form.
  if (checkout === undefined) return again
  try {
    const begun = () => begin(checkout, deps.leaveMail, { offer, typed })
    return { type: 'started', ...(await orNotNow(log, begun)) }
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return refused(error, again, { methods, t })
  }
}

async function begin(
  checkout: PayingMethods,
  mail: PayingDeps['leaveMail'],
  { offer, typed }: { readonly offer: Offer; readonly typed: Typed },
): Promise<StartedCheckout> {
  const address = mail?.read(typed.mail)
  const isWrong = typed.mail !== '' && address === undefined
  const started = await checkout.start({
    ...checkoutFormOf(offer, typed),
    ...(isWrong ? { found: [wrongMail] } : {}),
  })
  if (address !== undefined) await mail?.leave(started.orderId, address)
  return started
}

const wrongMail: Fault = { field: names.mail, code: 'malformed' }

function dearer(
  again: FormAgain,
  retail: Retail,
  { pricing, t }: Pick<WebDeps, 'pricing' | 't'>,
): FormAgain {
  const notice =
    retail.type === 'FIXED'
      ? t('form.dearer', { price: `${formatUsdc(usdcFromCents(retail.cents))} USDC` })
      : t('form.dearerOpen')
  const typed = { ...again.typed, seen: seenOf(retail, pricing.markupBps) }
  return { ...again, status: 409, typed, notice }
}

/** @throws Refusal if it is not one that the form can show */
function refused(
  refusal: Refusal,
  form: FormAgain,
  { methods, t }: Pick<PayingMethods, 'methods'> & { readonly t: Texts },
): FormAgain {
  const { status } = rules[refusal.code]
  const again = { ...form, retryAfterSeconds: refusal.details.retryAfterSeconds }
  switch (refusal.code) {
    case 'invalid_body':
      return { ...again, faults: faultsIn(refusal, { typed: again.typed, methods, t }) }
    case 'offer_unavailable':
      return { ...again, status }
    case 'purchase_declined':
      return { ...again, status, notice: t('form.declined') }
    case 'store_paused':
      return { ...again, status, notice: t('form.paused') }
    case 'try_again':
      return { ...again, status, notice: t('form.notNow') }
    case 'rate_limited':
      return { ...again, status, notice: t('form.tooMany') }
    case 'budget_spent':
      return { ...again, status, notice: spentNotice(refusal, again, t) }
    default:
      throw refusal
  }
}

function spentNotice({ details }: Refusal, { typed }: FormAgain, t: Texts): string {
  const unpaid = details.extra?.['unpaid']
  return unpaid === undefined
    ? t('form.cameToNothing', { minutes: Math.ceil((details.retryAfterSeconds ?? 60) / 60) })
    : t('form.unpaid', { count: Number(unpaid), coin: typed.pay })
}

type PayingMethods = NonNullable<PayingDeps['checkout']>

/** The last known price of one coin in US dollars, for estimates only; undefined if it is not known. */
export type CoinRates = (coin: Coin) => string | undefined

/** Stores a mail address with an order that is about to be paid. It sends nothing. */
export interface LeaveMail {
  /** The address in the form in which it is compared; undefined if the text is not an address. */
  read(text: string): string | undefined
  leave(id: OrderId, address: string): Promise<void>
}

export interface PayingDeps {
  /** Absent where the operator has configured no processor. */
  readonly checkout?: CheckoutService | undefined
  readonly leaveMail?: LeaveMail | undefined
  /** The recovery code of an order, which a person writes down to open it without its link. */
  readonly recoveryCode?: ((id: OrderId) => string) | undefined
  readonly payee: Payee
  readonly rates?: CoinRates | undefined
  /** Only in the sandbox: the URL of the page that pays an invoice with test money. */
  readonly sandboxPayUrl?: ((invoice: string) => string) | undefined
}
