import type { Kind } from '../catalog/offer.ts'
import { type Fields, wordingOf } from '../catalog/purchase-body.ts'
import type { Health } from '../health/health.ts'
import { checkoutIdOf } from '../lib/ids.ts'
import { type Fault, invalidBody, Refusal } from '../lib/refusal.ts'
import { justReceived, requireBudgets, soonAfter, subjectsOf } from '../orders/budgets.ts'
import { type FoundBy, foundBy } from '../orders/finding.ts'
import { idsFor } from '../orders/order.ts'
import type { BudgetRules, Subjects } from '../orders/ports.ts'
import {
  foreignEsim,
  itemOf,
  orTryAgain,
  type PriceDeps,
  type Priced,
  price,
  requireNotDenied,
  requireSold,
} from '../orders/price.ts'
import { type AddressRead, type Coin, coinAbilities } from '../payments/coins.ts'
import { payerOf } from '../payments/payment.ts'
import { accessTokenOf, type Digest, hashOf, type Vault } from '../secrets/secrets.ts'
import { advanceCheckout } from './advance.ts'
import type { Checkout, CheckoutIn } from './checkout.ts'
import {
  type CheckoutStepDeps,
  type CheckoutStore,
  type PaymentMethod,
  TooManyUnpaid,
  type UnpaidBound,
} from './ports.ts'

export interface StartDeps extends CheckoutStepDeps, PriceDeps {
  readonly health: Pick<Health, 'unsold' | 'takesCoins'>
  readonly vault: Vault
  readonly budgets: BudgetRules
  /** A keyed digest that only checkouts use. */
  readonly marks: Digest
  readonly readAddress: (method: PaymentMethod, text: string) => AddressRead
}

export interface CheckoutForm {
  readonly kind: Kind
  readonly fields: Fields
  readonly coin: string
  readonly refundTo: string
  /** At least 128 random bits in the form, so that the same form sent twice is one checkout. */
  readonly formKey: string
  /** The client that it counts against while it is unpaid, and if its order fails; kept as a keyed digest. */
  readonly client?: string
  readonly faults?: readonly Fault[]
}

export interface Started {
  readonly checkout: Checkout
  /** Opens the checkout and the goods of its order. The same form gives the same one again. */
  readonly accessToken: string
}

/**
 * Begins a checkout, once for the same form. @param admit is called last, before anything is stored, and may refuse
 * @throws Refusal those of a purchase; `budget_spent` also for a client with too many unpaid checkouts
 */
export async function startCheckout(
  deps: StartDeps,
  form: CheckoutForm,
  admit?: () => Promise<void>,
): Promise<Started> {
  // Nobody was told where to pay yet, so a form that fails here can be sent again.
  const { opened, accessToken } = await orTryAgain(deps.report, 'no', () =>
    openCheckout(deps, form, admit),
  )
  const { checkout } = opened
  if (!opened.isNew) return { checkout, accessToken }
  try {
    return { checkout: await advanceCheckout(deps, checkout), accessToken }
  } catch (error) {
    // It is on record: the sweep goes on with it, and its page shows how far it is.
    deps.reportCheckout({ name: 'checkout_step_failed', checkout: checkout.id, error })
    return { checkout, accessToken }
  }
}

async function openCheckout(deps: StartDeps, form: CheckoutForm, admit?: () => Promise<void>) {
  const { method, refundTo, priced } = readForm(deps, form)
  requireSold(deps.health, priced, false)
  requireNotDenied(deps, refundTo)
  // A refund to an address of ours would be a late payment there, and go back again. People copy the wrong address.
  if (await deps.checkouts.findByAddress(refundTo))
    throw invalidBody([{ field: 'refundTo', code: 'own_address' }])
  const payer = payerOf(method.coin, refundTo)
  const { client } = form
  const subjects = subjectsOf(deps, payer, { client, recipient: priced.lineItem.recipient })
  await requireBudgets(deps, subjects)
  const refusal = await foreignEsim(deps, priced, payer)
  if (refusal) throw refusal
  const { checkout, accessToken } = createCheckout(deps, form, {
    method,
    refundTo,
    priced,
    subjects,
  })
  await requireNotJustReceived(deps, form, priced, checkout)
  await admit?.()
  const found = foundBy(deps, checkout.orderId, priced.lineItem.recipient)
  return { opened: await openBounded(deps, checkout, client, found), accessToken }
}

/** The form of a checkout that has delivered meanwhile leads to it all the same. */
async function requireNotJustReceived(
  deps: StartDeps,
  { fields }: CheckoutForm,
  { lineItem }: Priced,
  { id }: Checkout,
): Promise<void> {
  const receivers = soonAfter(deps, lineItem.recipient, fields)
  if (!receivers || !(await deps.orders.hasJustReceived(receivers, deps.now()))) return
  if (!(await deps.checkouts.find(id))) throw justReceived()
}

/** The coins that new checkouts may choose: those of the processor that the operator has not paused. */
export function methodsTaken({
  processor,
  pricing,
}: Pick<StartDeps, 'processor' | 'pricing'>): readonly PaymentMethod[] {
  return processor.methods.filter(({ coin }) => !pricing.rules().pausesMethod(coin))
}

interface ParsedForm {
  readonly method: PaymentMethod
  readonly refundTo: string
  readonly priced: Priced
}

function readForm(deps: StartDeps, form: CheckoutForm): ParsedForm {
  const faults: Fault[] = [...(form.faults ?? [])]
  const methods = methodsTaken(deps)
  const method = methods.find(({ coin }) => coin === form.coin)
  if (!method) {
    const knownCoins = methods.map(({ coin }) => coin)
    faults.push({ field: 'coin', code: 'unknown_coin', known: knownCoins })
  }
  const parsedAddress = method && deps.readAddress(method, form.refundTo)
  if (parsedAddress?.outcome === 'bad') {
    faults.push({ field: 'refundTo', code: 'bad_address', reason: parsedAddress.fault })
  }
  if (!/^[A-Za-z0-9_-]{22,128}$/.test(form.formKey)) {
    faults.push({ field: 'formKey', code: 'missing' })
  }
  const priced = orFaults(() => price(deps, form.kind, form.fields), faults)
  if (priced && method && parsedAddress?.outcome === 'good' && faults.length === 0) {
    return { method, refundTo: parsedAddress.address, priced }
  }
  throw invalidBody(faults)
}

function orFaults(work: () => Priced, faults: Fault[]): Priced | undefined {
  try {
    return work()
  } catch (error) {
    const newFaults =
      error instanceof Refusal && error.code === 'invalid_body' && error.details.faults
    if (!newFaults) throw error
    faults.unshift(...newFaults)
    return undefined
  }
}

/** Ids and token follow from the form, so a form that is sent twice, to any node, is one checkout. */
function createCheckout(
  deps: StartDeps,
  form: CheckoutForm,
  { method, refundTo, priced, subjects }: ParsedForm & { readonly subjects: Subjects },
): { readonly checkout: CheckoutIn<'OPENING'>; readonly accessToken: string } {
  const { coin, network } = method
  const wording = wordingOf(form.kind, form.fields)
  const mark = JSON.stringify([form.formKey, wording, coin, refundTo])
  const id = checkoutIdOf(deps.marks.of(`id:${mark}`))
  const accessToken = accessTokenOf(deps.marks.of(`token:${mark}`))
  const payment = { network, asset: coin, payer: payerOf(coin, refundTo), nonce: id }
  const { id: orderId } = idsFor(deps.digest, payment)
  const { recipient } = priced.lineItem
  const { payer: _, ...others } = subjects
  const now = deps.now()
  const checkout: CheckoutIn<'OPENING'> = {
    state: 'OPENING',
    id,
    orderId,
    version: 1,
    item: itemOf(priced, deps.pricing),
    recipient: deps.vault.seal(recipient, { order: orderId, field: 'recipient' }),
    subjects: others,
    fingerprint: deps.digest.of(wording),
    accessTokenHash: hashOf(accessToken),
    formKeyHash: deps.marks.of(`form:${mark}`),
    coin,
    network,
    refundTo,
    amount: priced.amount,
    startedAt: now,
    changedAt: now,
  }
  return { checkout, accessToken }
}

/** How many unpaid checkouts of one client may wait in one coin. */
const maxUnpaid = 10
/** The same for a coin whose buyers share a few addresses. */
const maxUnpaidOfPool = 3

/** Each unpaid checkout takes an address of the processor. @throws Refusal `budget_spent` */
async function openBounded(
  { checkouts, marks }: { readonly checkouts: CheckoutStore; readonly marks: Digest },
  checkout: CheckoutIn<'OPENING'>,
  client: string | undefined,
  found: FoundBy,
): ReturnType<CheckoutStore['open']> {
  const { coin } = checkout
  const bound = client === undefined ? undefined : boundOf(coin, marks.of(`client:${client}`))
  try {
    return await checkouts.open(checkout, bound, found)
  } catch (error) {
    if (!(error instanceof TooManyUnpaid)) throw error
    const { unpaid } = error
    const message = `${unpaid} unpaid checkouts in ${coin} are open from this address. Pay one, wait, or choose another coin.`
    throw new Refusal('budget_spent', message, { charged: 'no', extra: { unpaid } })
  }
}

/** An address of a pool stays with its checkout until that is closed, long after its invoice has expired. */
function boundOf(coin: Coin, client: string): UnpaidBound {
  return coinAbilities[coin].isPooled
    ? { client, most: maxUnpaidOfPool, states: ['OPENING', 'OPEN', 'ENDED'] }
    : { client, most: maxUnpaid, states: ['OPENING', 'OPEN'] }
}
