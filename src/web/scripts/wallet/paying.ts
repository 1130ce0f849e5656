import { formatUsdc, type Usdc, usdc } from '../../../lib/money.ts'
import type { PayFault, WalletSettings, WalletText } from '../../buying/buy-form.ts'
import { shownCost } from '../../buying/field-value.ts'
import { faultOf, type Wallet } from './provider.ts'
import {
  authorizationFor,
  type Hex,
  type LineItem,
  matchingTerms,
  type PaymentRequired,
  type PaymentRequirement,
  paymentHeader,
} from './terms.ts'

export interface PayDeps {
  readonly settings: WalletSettings
  readonly random: (bytes: Uint8Array) => Uint8Array
  /** A clock that never goes back; milliseconds. */
  readonly monotonicMs: () => number
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  readonly saved: SavedPayments
  readonly show: (step: WalletText, values?: Readonly<Record<string, string>>) => void
  readonly wait: (ms: number) => Promise<void>
}

/** A price older than this is requested again, because it must still be valid when the payment arrives. */
const quoteFreshMs = 240_000

/**
 * Pays for a purchase from a wallet: asks for the price, compares it with what the page showed, asks the wallet for its
 * account, its network and its balance, and only then for the signature. A signed payment is kept until its outcome is
 * known, and nothing else is signed before that.
 */
export async function pay(deps: PayDeps, wallet: Wallet, lineItem: LineItem): Promise<Ended> {
  if (deps.saved.find() !== undefined) return resume(deps)
  // Without a record of the signed payment, a lost answer could lead to a second payment.
  if (!deps.saved.isPossible()) return failed('notKept')
  const first = await fetchPrice(deps, lineItem)
  if ('type' in first) return first
  const account = await readyAccount(deps, wallet, first.amount)
  if (typeof account !== 'string') return account
  const isFresh = deps.monotonicMs() - first.atMs < quoteFreshMs
  const price = isFresh ? first : await fetchPrice(deps, lineItem)
  if ('type' in price) return price
  return signAndSend(deps, wallet, { lineItem, account, price })
}

/** Resumes a payment that was signed before: sends exactly the same again. */
export function resume(deps: PayDeps): Promise<Ended> {
  deps.show('resuming')
  return sendSavedPayment(deps, { isFirst: false })
}

interface Price {
  readonly demand: PaymentRequired
  readonly requirement: PaymentRequirement
  readonly amount: Usdc
  /** The time by the clock of the store when it answered. */
  readonly nowSeconds: number
  readonly atMs: number
}

async function fetchPrice(deps: PayDeps, lineItem: LineItem): Promise<Price | Failed> {
  const { settings, show, monotonicMs } = deps
  show('checking')
  const atMs = monotonicMs()
  const { purchaseUrl } = settings
  const body = JSON.stringify(lineItem.fields)
  const answer = await purchase(deps, { purchaseUrl, body })
  if (answer === undefined) return failed('offline')
  const { demand, nowSeconds } = answer
  const { code = '' } = answer.body
  // Nothing was signed yet, so nothing can have been paid.
  if (demand === undefined) return failed(certain[code] ?? passing[code] ?? 'notNow')
  const requirement = matchingTerms(demand, settings)
  const maxAmount = lineItem.most ?? shownCost(lineItem.seen, lineItem.fields['value'])
  if (requirement === undefined || maxAmount === undefined) return failed('mismatch')
  const amount = usdc(requirement.amount)
  return amount > maxAmount
    ? { ...failed('dearer', { amount: formatUsdc(amount) }), amount }
    : { demand, requirement, amount, nowSeconds, atMs }
}

/** The account that pays, on the right network and with enough USDC; or why there is none. */
async function readyAccount(deps: PayDeps, wallet: Wallet, price: Usdc): Promise<Hex | Failed> {
  const { show } = deps
  const amount = formatUsdc(price)
  try {
    show('connecting')
    const account = await wallet.connect()
    if (account === undefined) return failed('connectRejected')
    if (!(await isOnNetwork(deps, wallet))) return failed('wrongNetwork')
    show('balance', { amount })
    const balance = await wallet.balance(account)
    return balance !== undefined && balance < price
      ? failed('noBalance', { balance: formatUsdc(balance), amount })
      : account
  } catch (error) {
    return walletFailed(error, 'connectRejected')
  }
}

/** Whether the wallet is on the payment network, after it was asked to switch if necessary. */
async function isOnNetwork({ show }: PayDeps, wallet: Wallet): Promise<boolean> {
  if (await wallet.isOnNetwork()) return true
  show('switching')
  try {
    await wallet.change()
  } catch (error) {
    // Other errors are ignored, because only the wallet's network afterwards counts.
    if (faultOf(error).type === 'pending') throw error
  }
  return wallet.isOnNetwork()
}

interface Ready {
  readonly lineItem: LineItem
  readonly account: Hex
  readonly price: Price
}

async function signAndSend(deps: PayDeps, wallet: Wallet, ready: Ready): Promise<Ended> {
  const { settings, saved, random, monotonicMs, show } = deps
  const { account, price, lineItem } = ready
  const waitedSeconds = Math.floor((monotonicMs() - price.atMs) / 1_000)
  const authorization = authorizationFor(price.requirement, account, {
    nowSeconds: price.nowSeconds + waitedSeconds,
    nonce: random(new Uint8Array(32)),
  })
  show('signing', { amount: formatUsdc(price.amount) })
  const signature = await wallet
    .sign(authorization)
    .catch((error: unknown) => walletFailed(error, 'signRejected'))
  if (typeof signature !== 'string') return signature
  const body = JSON.stringify(lineItem.fields)
  const payment = {
    purchaseUrl: settings.purchaseUrl,
    body,
    header: paymentHeader(price.demand, price.requirement, { signature, authorization }),
    key: keyOf(lineItem, body),
  }
  // If another tab has signed a payment for this offer meanwhile, that one is sent and this one never.
  if (!saved.keep(payment)) return resume(deps)
  show('paying')
  return sendSavedPayment(deps, { isFirst: true })
}

/**
 * The idempotency key: the same form with the same content is the same purchase, however often it is sent. The random
 * key of the form makes it secret, so a plain hash of the content (FNV-1a) is enough.
 */
function keyOf({ formKey }: LineItem, body: string): string {
  let hash = 0xcbf29ce484222325n
  for (const byte of new TextEncoder().encode(body)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n)
  }
  return `${formKey}-${hash.toString(16).padStart(16, '0')}`
}

function walletFailed(error: unknown, rejected: PayFault): Failed {
  const { type, reason } = faultOf(error)
  if (type === 'rejected') return failed(rejected)
  return type === 'pending' ? failed('connectPending') : failed('walletBroken', { reason })
}

/** There is an order: it is paid, or may still be. Its page shows which. */
interface Paid {
  readonly type: 'paid'
  readonly orderId: string
  /** Only in the first answer, which may have been lost or have gone to another tab. */
  readonly accessToken: string | undefined
  /** The idempotency key of the purchase, which opens the order for a limited time. */
  readonly key: string
}

interface Failed {
  readonly type: 'failed'
  readonly code: PayFault
  readonly values?: Readonly<Record<string, string>>
  /** The current price if it is higher than the page showed; atomic USDC. */
  readonly amount?: bigint
}

export type Ended = Paid | Failed

function failed(code: PayFault, values?: Readonly<Record<string, string>>): Failed {
  return { type: 'failed', code, ...(values && { values }) }
}

/** Waits before each further try, in milliseconds. After the last try the person decides. */
const pausesMs = [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]

/** Sends the kept payment until it is known whether it was accepted; only then it is forgotten. */
async function sendSavedPayment(
  deps: PayDeps,
  { isFirst }: { readonly isFirst: boolean },
): Promise<Ended> {
  const { saved, show, wait } = deps
  const payment = saved.find()
  if (payment === undefined) return failed('notNow')
  for (let attempt = 0; attempt <= pausesMs.length; attempt += 1) {
    const answer = await purchase(deps, payment)
    const ended = answer && endOf(answer, payment, isFirst && attempt === 0)
    if (ended !== undefined) {
      saved.forget(payment)
      return ended
    }
    const pauseMs = pausesMs[attempt]
    if (pauseMs === undefined) break
    show('retrying')
    const seconds = Math.min(answer?.body.retryAfterSeconds ?? 0, 60)
    await wait(Math.max(pauseMs, seconds * 1_000))
  }
  return failed('unknown')
}

/** Refusals of the content itself: the same request was refused before too. */
const certain: Readonly<Record<string, PayFault>> = {
  invalid_body: 'form',
  offer_not_found: 'notSold',
  limit_exceeded: 'limited',
  possible_duplicate: 'toppedUp',
}

/** Temporary refusals. They prove that nothing was paid only if the payment has never been sent before. */
const passing: Readonly<Record<string, PayFault>> = {
  offer_unavailable: 'notSold',
  store_paused: 'paused',
  rate_limited: 'notNow',
  try_again: 'notNow',
  too_costly: 'notNow',
}

/** The outcome; undefined while it is not known whether the payment was accepted. */
function endOf(
  { body, demand, status }: Answer,
  { key }: SavedPayment,
  isFirst: boolean,
): Ended | undefined {
  const { orderId, accessToken, code = '', charged } = body
  if (status < 300 && orderId !== undefined) return { type: 'paid', orderId, accessToken, key }
  // The store asks for another payment only when it has proven that this one was not accepted.
  if (demand !== undefined) return refused(body.error)
  if (charged !== 'no') return undefined
  const wording = certain[code] ?? (isFirst ? passing[code] : undefined)
  if (wording !== undefined) return failed(wording)
  return code in passing ? undefined : refused(body.detail)
}

function refused(why = ''): Failed {
  return failed('refused', { reason: why.replace(/\.$/, '') })
}

type Answer = NonNullable<Awaited<ReturnType<typeof purchase>>>

type Body = Partial<PaymentRequired> & {
  readonly error?: string
  readonly orderId?: string
  readonly accessToken?: string
  readonly code?: string
  readonly detail?: string
  /** Whether money moved, as far as the store knows. */
  readonly charged?: string
  readonly retryAfterSeconds?: number
}

/** The timeout of one request: the payment has to get into a block. */
const patienceMs = 60_000

/** Asks for the exact price of a purchase, or sends it with its payment; undefined without a readable answer. */
async function purchase(
  { fetch }: PayDeps,
  { purchaseUrl, body, header, key }: Omit<SavedPayment, 'header' | 'key'> & Partial<SavedPayment>,
) {
  try {
    const response = await fetch(purchaseUrl, {
      method: 'POST',
      body,
      headers: {
        'content-type': 'application/json',
        ...(key && { 'idempotency-key': key }),
        ...(header && { 'payment-signature': header, prefer: 'respond-async' }),
      },
      signal: AbortSignal.timeout(patienceMs),
    })
    const { status, headers } = response
    const answered = (await response.json()) as Body
    const { resource, extensions, accepts } = answered
    /** Set if the store asks for a payment. */
    const demand = status === 402 && accepts ? { resource, extensions, accepts } : undefined
    const now = Date.parse(headers.get('date') ?? '') || Date.now()
    return { status, body: answered, demand, nowSeconds: Math.floor(now / 1_000) }
  } catch {
    // It is unknown whether the request arrived; the caller sends the same again.
    return undefined
  }
}

/** A signed payment whose outcome is not known yet. */
interface SavedPayment {
  readonly purchaseUrl: string
  /** The body of the purchase as it was sent, so that it is identical when it is sent again. */
  readonly body: string
  readonly header: string
  readonly key: string
}

/**
 * Remembers a signed payment for an offer until its outcome is known. Meanwhile no other is signed for this offer, so
 * nobody pays twice by reloading the page, in another tab, or by coming back.
 *
 * @param storageOf throws in browsers that are set to store nothing
 */
export function createSavedPayments(
  storageOf: () => Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>,
  offerId: string,
) {
  const name = `kiosk402-payment ${offerId}`
  const isPossible = (): boolean => {
    try {
      storageOf().setItem('kiosk402-probe', '')
      storageOf().removeItem('kiosk402-probe')
      return true
    } catch {
      return false
    }
  }
  const find = (): SavedPayment | undefined => {
    const text = isPossible() ? storageOf().getItem(name) : null
    return text === null ? undefined : (JSON.parse(text) as SavedPayment)
  }
  return {
    find,
    isPossible,
    /** Stores a payment. False if another tab was first: its payment stays, and this one must not be sent. */
    keep(payment: SavedPayment): boolean {
      if (find() !== undefined) return false
      storageOf().setItem(name, JSON.stringify(payment))
      return true
    },
    /** Removes this payment, and never one that another tab has stored since. */
    forget(payment: SavedPayment): void {
      if (find()?.header === payment.header) storageOf().removeItem(name)
    },
  }
}

type SavedPayments = ReturnType<typeof createSavedPayments>
