import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CheckoutService, StartedCheckout } from '../../api/checkout.ts'
import { addressIn } from '../../api/tracking/find.ts'
import type { Offer } from '../../catalog/offer.ts'
import { type Retail, retailOf, valueFault } from '../../catalog/pricing.ts'
import { readLineItem } from '../../catalog/purchase-body.ts'
import { clientKeyOf, type Limits, takeFrom } from '../../http/gate.ts'
import { type Cents, formatUsdc, usdcFromCents } from '../../lib/money.ts'
import { type Fault, Refusal, rules } from '../../lib/refusal.ts'
import { notReadable } from '../../orders/price.ts'
import type { WebDeps } from '../frame/deps.ts'
import type { Frame } from '../frame/layout.ts'
import { sayPrivately, withRetryAfter, written } from '../frame/senders.ts'
import { buyPath, payPath } from '../paths.ts'
import type { Texts } from '../texts/texts.ts'
import { acts, formIn, reads, rememberOrder } from '../visitor.ts'
import type { PayingDeps } from './buy-form.ts'
import {
  type FormFeedback,
  faultsIn,
  formFieldsOf,
  isDearer,
  names,
  noFaults,
  numberIn,
  purchaseFieldsOf,
  readTyped,
  shownPriceOf,
  type Typed,
  walletWay,
} from './form.ts'
import { offerPage } from './offer-page.ts'

type BuyDeps = WebDeps &
  PayingDeps & { readonly frame: Frame; readonly limits: Pick<Limits, 'checkout'> }

type OfferRequest = FastifyRequest<{ Params: { offerId: string } }>

export function routeBuying(pages: FastifyInstance, deps: BuyDeps): void {
  pages.get('/buy/:offerId', reads, (request: OfferRequest, reply) => {
    const { ids } = deps.liveCatalog.current()
    const { offerId } = request.params
    const meant = ids.find(offerId) === undefined ? ids.findLike(offerId) : undefined
    // People copy ids by hand, and some mail programs change them to lower case.
    if (meant !== undefined) return reply.redirect(buyPath(meant), 302)
    // Each form has its own key, so shared caches may not keep the page; the browser may, for going back.
    reply.header('cache-control', 'private, no-cache')
    return reply.send(written(reply, deps.frame, offerPage(offerOf(request, deps), deps)))
  })
  pages.post('/buy/:offerId', acts, (request: OfferRequest, reply) => {
    reply.header('cache-control', 'no-store')
    return takeForm(request, reply, deps)
  })
}

async function takeForm(request: OfferRequest, reply: FastifyReply, deps: BuyDeps) {
  const { checkout, frame } = deps
  const offer = offerOf(request, deps)
  const retail = retailOf(offer, deps.pricing)
  const fields = formFieldsOf(offer, retail, deps)
  const typed = readTyped(formIn(request), fields, checkout?.methods ?? [])
  if (typed === undefined) return sayPrivately(reply.code(400), frame, 'form.strange')
  const taken =
    priceFeedback(retail, typed, deps) ??
    (checkout === undefined || typed.pay === walletWay
      ? refusedFields(offer, typed, deps)
      : await start(request, reply, { deps, checkout, offer, typed }))
  if ('status' in taken) {
    withRetryAfter(reply.code(taken.status), taken)
    return reply.send(written(reply, frame, offerPage(offer, deps, taken)))
  }
  const { id, orderId, accessToken: token } = taken
  request.orderId = orderId
  rememberOrder(reply, { orderId, checkout: id, token, siteUrl: deps.site.url })
  return reply.redirect(payPath(id), 303)
}

function offerOf({ params }: OfferRequest, { liveCatalog, t }: BuyDeps): Offer {
  const offer = liveCatalog.current().ids.find(params.offerId)
  if (offer === undefined) throw new Refusal('offer_not_found', t('messages.offerNotFound.text'))
  return offer
}

/** The form with the present price if that is higher than the form said: nobody is charged more than they saw. */
function priceFeedback(retail: Retail, typed: Typed, { t }: BuyDeps): FormFeedback | undefined {
  // The page itself says why the offer is not sold.
  if (retail.type === 'NOT_SOLD') {
    return { status: rules.offer_unavailable.status, typed, faults: noFaults }
  }
  const seen = shownPriceOf(retail)
  if (!isDearer(typed, seen)) return undefined
  const notice =
    retail.type === 'FIXED'
      ? t('form.dearer', { price: `${formatUsdc(usdcFromCents(retail.cents))} USDC` })
      : t('form.dearerOpen')
  return { status: 409, typed: { ...typed, seen }, faults: noFaults, notice }
}

/** What the form shows when the API has refused its fields for a wallet, whose script then sends the form. */
function refusedFields(offer: Offer, typed: Typed, { pricing, t }: BuyDeps): FormFeedback {
  const feedback = { status: 422, typed, faults: noFaults }
  const showing = (faults: readonly Fault[]) => ({
    ...feedback,
    faults: faultsIn(faults, { typed, methods: [], t }),
  })
  try {
    const rangeFault = (value: Cents) => valueFault(offer, value, pricing)
    readLineItem(offer, purchaseFieldsOf(offer, typed), { now: pricing.now(), rangeFault })
  } catch (error) {
    return showing(faultsOf(error))
  }
  const { msisdn, iccid } = typed.fields
  // Whether an eSIM may be topped up is the only fault that depends on the wallet.
  if (iccid) return showing([{ field: 'iccid', code: 'foreign_esim' }])
  const value = numberIn(typed, offer)
  if (msisdn === undefined || msisdn === value) return feedback
  // For a number typed as it is dialled in its country, the buyer first sees how it was understood.
  const fields = { ...typed.fields, msisdn: value }
  return { ...feedback, typed: { ...typed, fields }, notice: t('form.readAs', { value }) }
}

interface Starting {
  readonly deps: BuyDeps
  readonly checkout: CheckoutService
  readonly offer: Offer
  readonly typed: Typed
}

/**
 * Limits how many checkouts a visitor starts, because each takes an address of the processor and is watched for days,
 * paid or not. A form with faults does not count. The place is taken first, so that no two take the last.
 */
async function start(
  request: FastifyRequest,
  reply: FastifyReply,
  starting: Starting,
): Promise<StartedCheckout | FormFeedback> {
  const { deps, checkout, offer, typed } = starting
  const { mail, limits } = deps
  const address = mail && addressIn(typed.mail)
  const isMailWrong = typed.mail !== '' && address === undefined
  const form = {
    kind: offer.kind,
    fields: purchaseFieldsOf(offer, typed),
    coin: typed.pay,
    refundTo: (typed.refundTo[typed.pay] ?? '').trim(),
    formKey: typed.formKey,
    client: clientKeyOf(request.ip),
    faults: isMailWrong ? [{ field: names.mail, code: 'malformed' } as const] : [],
  }
  const takePlace = async () => {
    const refusal = await takeFrom(limits.checkout, request, reply)
    if (refusal) throw refusal
  }
  try {
    const started = await checkout.start(form, takePlace)
    if (mail && address) await mail.book.remember(started.orderId, mail.digest.of(address))
    return started
  } catch (error) {
    return refusalFeedback(notReadable(request.log, error), starting)
  }
}

/** @throws Refusal if it is not one that the form can show */
function refusalFeedback(
  refusal: Refusal,
  { deps: { t }, checkout: { methods }, typed, offer }: Starting,
): FormFeedback {
  const { code, details } = refusal
  const { status } = rules[code]
  const feedback = { status, typed, faults: noFaults, retryAfterSeconds: details.retryAfterSeconds }
  switch (code) {
    case 'invalid_body':
      return { ...feedback, faults: faultsIn(faultsOf(refusal), { typed, methods, t }) }
    case 'offer_unavailable':
      return feedback
    case 'possible_duplicate': {
      const another = numberIn(typed, offer)
      return { ...feedback, typed: { ...typed, another }, notice: t('form.toppedUp') }
    }
    case 'purchase_declined':
      return { ...feedback, notice: t('form.declined') }
    case 'store_paused':
      return { ...feedback, notice: t('form.paused') }
    case 'try_again':
      return { ...feedback, notice: t('form.notNow') }
    case 'rate_limited':
      return { ...feedback, notice: t('form.tooMany') }
    case 'budget_spent':
      return { ...feedback, notice: spentNotice(refusal, typed, t) }
    default:
      throw refusal
  }
}

function faultsOf(error: unknown): readonly Fault[] {
  if (error instanceof Refusal && error.code === 'invalid_body') return error.details.faults ?? []
  throw error
}

function spentNotice({ details }: Refusal, { pay }: Typed, t: Texts): string {
  const unpaid = details.extra?.['unpaid']
  return unpaid === undefined
    ? t('form.cameToNothing', { minutes: Math.ceil((details.retryAfterSeconds ?? 60) / 60) })
    : t('form.unpaid', { count: Number(unpaid), coin: pay })
}
