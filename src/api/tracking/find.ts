import {
  type CompleteSIWxInfo,
  createSIWxMessage,
  SIGN_IN_WITH_X,
  type SIWxExtension,
} from '@x402/extensions/sign-in-with-x'
import { getAddress, isAddress } from 'viem'
import * as z from 'zod'
import { isInvoiced } from '../../checkouts/checkout.ts'
import { type CheckoutId, isCheckoutId, isOrderId, type OrderId } from '../../lib/ids.ts'
import type { MailBook, Mailer } from '../../orders/ports.ts'
import type { Digest } from '../../secrets/secrets.ts'
import { signedInWallet, signInRequired } from '../buying/credentials.ts'
import { boughtOf } from '../checkout.ts'
import type { Site } from '../operation.ts'
import { listOrders, ordersScope } from '../orders/find-orders.ts'
import { type OrderTrackingDeps, opens, placedIn, type Records, recordsOf } from './order-view.ts'
import {
  lastingIn,
  linkToken,
  type PageCredentials,
  sessionToken,
  walletOfSession,
} from './tokens.ts'

export const findPath = '/find'
const maxList = 50
const maxMailed = 20

type NamedOrder =
  /** By the number of an order or of a payment, which only its buyer knows. */
  | { readonly type: 'order'; readonly id: OrderId }
  | { readonly type: 'checkout'; readonly id: CheckoutId }
  /** By a transaction or an address, which are public on the chain. */
  | { readonly type: 'public'; readonly id: OrderId }
  /** `wrong`: the text is nothing by which an order could be found. */
  | { readonly type: 'none' | 'wrong' }

/** @param text what a person pasted, perhaps a link */
export function orderNamedBy(deps: OrderTrackingDeps, text: string): Promise<NamedOrder> {
  const number = /\b(?:ord|chk)_[0-9a-z]{26}\b/.exec(text)?.[0]
  return number === undefined ? byChain(deps, text) : byNumber(deps, number)
}

async function byNumber(deps: OrderTrackingDeps, number: string): Promise<NamedOrder> {
  if (isOrderId(number)) return named('order', await recordsOf(deps, number))
  const isKnown = isCheckoutId(number) && (await deps.checkouts?.find(number)) !== undefined
  return isKnown ? { type: 'checkout', id: number } : { type: 'none' }
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
  const address = /^(?:[a-z]+:)?([0-9a-zA-Z]{25,120})(?:[?@].*)?$/.exec(text.trim())?.[1]
  if (address === undefined) return { type: 'wrong' }
  return named('public', { order: undefined, checkout: await checkouts?.findByAddress(address) })
}

function named(type: 'order' | 'public', { order, checkout }: Records): NamedOrder {
  const id = order?.id ?? checkout?.orderId
  return id === undefined ? { type: 'none' } : { type, id }
}

/** A transaction in what a person pasted: 64 hexadecimal digits, with 0x before them on EVM chains. */
function transactionIn(text: string): string | undefined {
  const [hash] = /(?<![0-9a-z])(0x)?[0-9a-f]{64}(?![0-9a-z])/i.exec(text) ?? []
  return hash?.toLowerCase()
}

const findPageScope = ordersScope(findPath)

/** EIP-4361, as for agents. Undefined if the text is not an address. */
export function walletChallenge({ signIn }: OrderTrackingDeps, text: string) {
  if (!isAddress(text, { strict: false })) return undefined
  const address = getAddress(text)
  const { extensions = {} } = signInRequired(signIn, findPageScope)
  const { info, supportedChains } = extensions[SIGN_IN_WITH_X] as SIWxExtension
  const complete = { ...info, ...supportedChains[0] } as CompleteSIWxInfo
  return { message: createSIWxMessage(complete, address), payload: { ...complete, address } }
}

/** @throws Refusal `sign_in_invalid` */
export async function sessionForWallet(
  deps: OrderTrackingDeps,
  signed: string,
): Promise<string | undefined> {
  const wallet = await signedInWallet(deps.signIn, signed, findPageScope)
  return wallet && sessionToken(deps, wallet)
}

export async function ordersOfSession(deps: OrderTrackingDeps, token: string | undefined) {
  const wallet = await walletOfSession(deps, token)
  if (wallet === undefined) return undefined
  const list = await listOrders(deps, wallet, { limit: maxList, offset: 0 })
  return { wallet, ...list }
}

export interface MailDeps {
  readonly mailer: Mailer
  readonly book: MailBook
  /** Recognises addresses, which are not stored themselves. */
  readonly digest: Digest
}

const addressShape = z.email().max(254)

export function addressIn(text: string): string | undefined {
  return addressShape.safeParse(text.trim().toLowerCase()).data
}

/**
 * Stores the buyer's address with an order. A link token from a mail, or a session, opens the order for some time but
 * cannot change the address: otherwise it could renew itself, and replace the address of the buyer. For a checkout that is not paid,
 * nothing is stored or sent here, because anyone can start one.
 *
 * @returns the order for the mail; undefined if the visitor may not leave an address
 */
export async function leaveAddress(
  deps: OrderTrackingDeps,
  { book, digest }: MailDeps,
  { id, credentials, address }: { id: string; credentials: PageCredentials; address: string },
): Promise<MailedOrder | undefined> {
  const records = await recordsOf(deps, id)
  if (!records.order || !(await opens(deps, records, lastingIn(credentials)))) return undefined
  const mailed = mailedOrder(deps, records)
  if (mailed) await book.remember(mailed.id, digest.of(address))
  return mailed
}

/** Anyone can begin a checkout with somebody else's address, who must not get mail about it. */
export async function ordersFor(
  deps: OrderTrackingDeps,
  { book, digest }: MailDeps,
  address: string,
): Promise<readonly MailedOrder[]> {
  const ids = await book.ordersOf(digest.every(address), maxMailed)
  const mailedOrders = await Promise.all(
    ids.map(async (id) => {
      const records = await recordsOf(deps, id)
      return isPaidFor(records) ? mailedOrder(deps, records) : undefined
    }),
  )
  return mailedOrders.filter((one) => one !== undefined)
}

export function isPaidFor({ order, checkout }: Pick<Records, 'order' | 'checkout'>): boolean {
  if (order !== undefined) return order.state !== 'PAYMENT_FAILED'
  return checkout !== undefined && isInvoiced(checkout) && checkout.invoice.payments.length > 0
}

export type MailedOrder = ReturnType<typeof asMailed>

function mailedOrder(deps: OrderTrackingDeps, records: Records): MailedOrder | undefined {
  const placed = placedIn(deps, records)
  return placed && asMailed(deps, placed)
}

export function asMailed(
  deps: Parameters<typeof linkToken>[0] & {
    readonly site: Pick<Site, 'url'>
    readonly purchases: Parameters<typeof boughtOf>[0]
  },
  placed: Parameters<typeof boughtOf>[1] & { readonly placedAt: Date },
) {
  const { orderId: id, placedAt } = placed
  // Browsers do not send what is after the `#`.
  const link = `${deps.site.url}/orders/${id}#${linkToken(deps, id)}`
  return { id, bought: boughtOf(deps.purchases, placed), placed: placedAt, link }
}
