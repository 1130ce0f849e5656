import { type Hex, keccak256, stringToHex } from 'viem'
import type { WalletSettings, WalletTexts } from '../../buying/wallet-panel.ts'
import { authorizationFor, paymentHeader } from './authorization.ts'
import type { Kept } from './kept.ts'
import type { LineItem } from './line-item.ts'
import { judge, type PaymentRequired, type PaymentRequirement } from './payment-required.ts'
import { saidPrice, usdcText } from './price.ts'
import { faultOf, type Wallet } from './provider.ts'
import {
  type Ended,
  type Failed,
  failed,
  type PayFault,
  type Sending,
  sendKept,
} from './sending.ts'
import { type Answer, type Fetch, purchase } from './store.ts'

export interface PayDeps extends Sending {
  readonly settings: WalletSettings
  readonly fetch: Fetch
  readonly kept: Kept
  /** Tells where it stands. */
  readonly show: (step: keyof WalletTexts, values?: Readonly<Record<string, string>>) => void
  /** Fills an array with randomness that nobody can guess. */
  readonly random: (bytes: Uint8Array) => Uint8Array
  /** A clock that never goes back; milliseconds. */
  readonly monotonicMs: () => number
}

/** An offered price is signed only while it holds for long enough to get there. */
const quoteFreshMs = 240_000

/**
 * Pays for a purchase from a wallet: asks for the price, holds it against what the page said, asks the
 * wallet for its account, its network and its balance, and only then for the signature. What was signed
 * is kept until its fate is known, and nothing else is signed before.
 */
export async function pay(deps: PayDeps, wallet: Wallet, lineItem: LineItem): Promise<Ended> {
  const kept = deps.kept.find()
  if (kept !== undefined) return resume(deps)
  // Without a record of what was signed, a lost answer could lead to a second payment.
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

/** Goes on with a payment that was signed before: sends the very same again. */
export function resume(deps: PayDeps): Promise<Ended> {
  deps.show('resuming')
  return sendKept(deps, { isFirst: false })
}

interface Price {
  readonly type: 'price'
  readonly demand: PaymentRequired
  readonly asked: PaymentRequirement
  readonly amount: bigint
  /** By the clock of the store, when it was asked. */
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

/** Nothing was signed yet, so nothing can have been paid. */
function notPriced(answer: Exclude<Answer, { type: 'demand' }>): Failed {
  if (answer.type === 'silence') return failed('offline')
  // A purchase without a payment opens no order.
  if (answer.type === 'order') return failed('mismatch')
  return { ...failed(refusals[answer.code] ?? 'notNow'), errors: answer.errors }
}

/** The account that pays, on the right network and with enough; or why there is none. */
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

/** Whether the wallet is where USDC is paid, after it was asked to go there. */
async function isOnNetwork({ show }: PayDeps, wallet: Wallet): Promise<boolean> {
  if (await wallet.isOnNetwork()) return true
  show('switching')
  try {
    await wallet.change()
  } catch (error) {
    // Whatever it says of it: what counts is where it is now.
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
  // What another tab has signed for this offer meanwhile comes first, and this is never sent.
  if (!kept.keep(payment)) return resume(deps)
  show('paying')
  return sendKept(deps, { isFirst: true })
}

/** The same form with the same content is the same purchase, however often it is sent. */
function keyOf({ formKey }: LineItem, body: string): string {
  return keccak256(stringToHex(`${formKey} ${body}`)).slice(2)
}

function walletFailed(error: unknown, rejected: PayFault): Failed {
  const { type, reason } = faultOf(error)
  if (type === 'rejected') return failed(rejected)
  return type === 'pending' ? failed('connectPending') : failed('walletBroken', { reason })
}
