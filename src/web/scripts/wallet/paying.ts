import type { PayFault, WalletSettings, WalletText } from '../../buying/wallet-panel.ts'
import { faultOf, type Wallet } from './provider.ts'
import {
  type Answer,
  type Ended,
  type Failed,
  type Fetch,
  failed,
  type Kept,
  purchase,
  type Sending,
  sendKept,
} from './sending.ts'
import {
  authorizationFor,
  type Hex,
  judge,
  type LineItem,
  type PaymentRequired,
  type PaymentRequirement,
  paymentHeader,
  saidPrice,
  usdcText,
} from './terms.ts'

export interface PayDeps extends Sending {
  readonly settings: WalletSettings
  readonly fetch: Fetch
  readonly kept: Kept
  readonly show: (step: WalletText, values?: Readonly<Record<string, string>>) => void
  readonly random: (bytes: Uint8Array) => Uint8Array
  /** A clock that never goes back; milliseconds. */
  readonly monotonicMs: () => number
}

/** A price older than this is asked for again, because it must still be valid when the payment arrives. */
const quoteFreshMs = 240_000

/**
 * Pays for a purchase from a wallet: asks for the price, compares it with what the page showed, asks the wallet for its
 * account, its network and its balance, and only then for the signature. A signed payment is kept until its outcome is
 * known, and nothing else is signed before that.
 */
export async function pay(deps: PayDeps, wallet: Wallet, lineItem: LineItem): Promise<Ended> {
  const kept = deps.kept.find()
  if (kept !== undefined) return resume(deps)
  // Without a record of the signed payment, a lost answer could lead to a second payment.
  if (!deps.kept.isPossible()) return failed('notKept')
  const asked = await askPrice(deps, lineItem)
  if (asked.type === 'failed') return asked
  const account = await readyAccount(deps, wallet, asked.amount)
  if (typeof account !== 'string') return account
  const isFresh = deps.monotonicMs() - asked.atMs < quoteFreshMs
  const price = isFresh ? asked : await askPrice(deps, lineItem)
  if (price.type === 'failed') return price
  return signAndSend(deps, wallet, { lineItem, account, price })
}

/** Resumes a payment that was signed before: sends exactly the same again. */
export function resume(deps: PayDeps): Promise<Ended> {
  deps.show('resuming')
  return sendKept(deps, { isFirst: false })
}

interface Price {
  readonly type: 'price'
  readonly demand: PaymentRequired
  readonly asked: PaymentRequirement
  readonly amount: bigint
  /** The time by the clock of the store when it answered. */
  readonly nowSeconds: number
  readonly atMs: number
}

async function askPrice(deps: PayDeps, lineItem: LineItem): Promise<Price | Failed> {
  const { settings, fetch, show, monotonicMs } = deps
  show('checking')
  const atMs = monotonicMs()
  const { purchaseUrl } = settings
  const answer = await purchase(fetch, { purchaseUrl, body: JSON.stringify(lineItem.fields) })
  if (answer.type !== 'demand') return notPriced(answer)
  const judged = judge(
    answer.demand,
    settings,
    lineItem.most ?? saidPrice(lineItem.seen, lineItem.fields['value']),
  )
  if (judged.type === 'mismatch') return failed('mismatch')
  if (judged.type === 'dearer') {
    const { amount } = judged
    return { ...failed('dearer', { amount: usdcText(amount) }), amount }
  }
  return { ...judged, ...answer, type: 'price', atMs }
}

const refusals: Readonly<Record<string, PayFault>> = {
  invalid_body: 'form',
  offer_not_found: 'notSold',
  offer_unavailable: 'notSold',
  store_paused: 'paused',
}

/** Why there is no price. Nothing was signed yet, so nothing can have been paid. */
function notPriced(answer: Exclude<Answer, { type: 'demand' }>): Failed {
  if (answer.type === 'silence') return failed('offline')
  // A purchase without a payment opens no order.
  if (answer.type === 'order') return failed('mismatch')
  return { ...failed(refusals[answer.code] ?? 'notNow'), errors: answer.errors }
}

/** The account that pays, on the right network and with enough USDC; or why there is none. */
async function readyAccount(deps: PayDeps, wallet: Wallet, amount: bigint): Promise<Hex | Failed> {
  const { show } = deps
  try {
    show('connecting')
    const account = await wallet.connect()
    if (account === undefined) return failed('connectRejected')
    if (!(await isOnNetwork(deps, wallet))) return failed('wrongNetwork')
    show('balance', { amount: usdcText(amount) })
    const balance = await wallet.balance(account)
    return balance !== undefined && balance < amount
      ? failed('noBalance', { balance: usdcText(balance), amount: usdcText(amount) })
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
  const { settings, kept, random, monotonicMs, show } = deps
  const { account, price, lineItem } = ready
  const waitedSeconds = Math.floor((monotonicMs() - price.atMs) / 1_000)
  const authorization = authorizationFor(price.asked, account, {
    nowSeconds: price.nowSeconds + waitedSeconds,
    nonce: random(new Uint8Array(32)),
  })
  show('signing', { amount: usdcText(price.amount) })
  const signingAt = monotonicMs()
  const signature = await wallet.sign(authorization).catch((error: unknown) => {
    return walletFailed(error, 'signRejected')
  })
  if (typeof signature !== 'string') return signature
  const isOver = monotonicMs() - signingAt > (price.asked.maxTimeoutSeconds - 15) * 1_000
  if (isOver) return failed('expired')
  const body = JSON.stringify(lineItem.fields)
  const payment = {
    purchaseUrl: settings.purchaseUrl,
    body,
    header: paymentHeader(price.demand, price.asked, { signature, authorization }),
    key: keyOf(lineItem, body),
  }
  // If another tab has signed a payment for this offer meanwhile, that one is sent and this one never.
  if (!kept.keep(payment)) return resume(deps)
  show('paying')
  return sendKept(deps, { isFirst: true })
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
