import {
  type CompleteSIWxInfo,
  createSIWxMessage,
  SIGN_IN_WITH_X,
  type SIWxExtension,
} from '@x402/extensions/sign-in-with-x'
import { getAddress, isAddress } from 'viem'
import { type CheckoutId, isCheckoutId, isOrderId, type OrderId } from '../../lib/ids.ts'
import { type SignInAsk, signedInWallet, signInRequired } from '../buying/credentials.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import type { FaultLog } from '../deps.ts'
import { listOrders, ordersAsk } from '../orders/find-orders.ts'
import { type OrderTrackingDeps, type Records, recordsOf } from './order-view.ts'
import { sessionToken, walletOfSession } from './tokens.ts'

/** The page on which a person finds an order again; wallets sign in for it. */
export const findPath = '/find'
/** The maximum number of orders in the list. */
const maxList = 50

/** The purpose that a wallet signs on this page. */
const ask: SignInAsk = ordersAsk(findPath)

/** The result of looking up what a person typed. */
type NamedOrder =
  /** By the number of an order or of a payment, which only its buyer knows. */
  | { readonly type: 'order'; readonly id: OrderId }
  | { readonly type: 'checkout'; readonly id: CheckoutId }
  /** By a transaction or an address, which are public on the chain. */
  | { readonly type: 'public'; readonly id: OrderId }
  | { readonly type: 'none' }
  /** The text is nothing by which an order could be found. */
  | { readonly type: 'wrong' }

/**
 * The order that a text names: its number, that of its payment, the transaction that paid, or the address
 * that was paid to.
 *
 * @param text what a person pasted, perhaps the link of a wallet or of an explorer
 * @throws Refusal `try_again`
 */
export async function orderNamedBy(
  deps: OrderTrackingDeps,
  text: string,
  log: FaultLog,
): Promise<NamedOrder> {
  return orNotNow(log, async () => {
    const number = /\b(?:ord|chk)_[0-9a-z]{26}\b/.exec(text)?.[0]
    return number === undefined ? byChain(deps, text) : byNumber(deps, number)
  })
}

async function byNumber(deps: OrderTrackingDeps, number: string): Promise<NamedOrder> {
  if (isOrderId(number)) return named('order', await recordsOf(deps, number))
  const isKnown = isCheckoutId(number) && (await deps.checkouts?.find(number)) !== undefined
  return isKnown ? { type: 'checkout', id: number } : none
}

async function byChain(
  { orders, checkouts }: OrderTrackingDeps,
  text: string,
): Promise<NamedOrder> {
  const hash = transactionIn(text)
  if (hash !== undefined) {
    const order = await orders.findByTransaction(hash)
    const checkout = order ? undefined : await checkouts?.findByTransaction(hash)
    return named('public', { order, checkout })
  }
  const address = addressIn(text)
  if (address === undefined) return { type: 'wrong' }
  return named('public', { order: undefined, checkout: await checkouts?.findByAddress(address) })
}

const none = { type: 'none' } as const

function named(type: 'order' | 'public', { order, checkout }: Records): NamedOrder {
  const id = order?.id ?? checkout?.orderId
  return id === undefined ? none : { type, id }
}

/** An address in what a person pasted: alone, or in the link that a wallet opens. */
function addressIn(text: string): string | undefined {
  return /^(?:[a-z]+:)?([0-9a-zA-Z]{25,120})(?:[?@].*)?$/.exec(text.trim())?.[1]
}

/** A transaction in what a person pasted: 64 hexadecimal digits, with 0x before them on EVM chains. */
function transactionIn(text: string): string | undefined {
  const [hash] = /(?<![0-9a-z])(0x)?[0-9a-f]{64}(?![0-9a-z])/i.exec(text) ?? []
  return hash?.toLowerCase()
}

/**
 * The message that the wallet at this address signs (EIP-4361, as for agents), and the payload to send back with its
 * `signature`. Undefined if the text is not an address.
 */
export function walletChallenge({ signIn }: OrderTrackingDeps, text: string) {
  if (!isAddress(text, { strict: false })) return undefined
  const address = getAddress(text)
  const { extensions = {} } = signInRequired(signIn, ask)
  const { info, supportedChains } = extensions[SIGN_IN_WITH_X] as SIWxExtension
  const complete = { ...info, ...supportedChains[0] } as CompleteSIWxInfo
  return { message: createSIWxMessage(complete, address), payload: { ...complete, address } }
}

/**
 * A session token for the wallet that signed.
 *
 * @param signed base64 of the signed message
 * @throws Refusal `sign_in_invalid`, `try_again`
 */
export async function sessionForWallet(
  deps: OrderTrackingDeps,
  signed: string,
  log: FaultLog,
): Promise<string | undefined> {
  const wallet = await orNotNow(log, () => signedInWallet(deps.signIn, signed, ask))
  return wallet && sessionToken(deps, wallet)
}

/** The newest orders of the wallet of this session token; undefined if the token is not valid. */
export async function ordersOfSession(
  deps: OrderTrackingDeps,
  token: string | undefined,
  log: FaultLog,
) {
  const wallet = walletOfSession(deps, token)
  if (wallet === undefined) return undefined
  const list = await listOrders(deps, wallet, { limit: maxList, offset: 0 }, log)
  return { wallet, ...list }
}
