import {
  type CompleteSIWxInfo,
  createSIWxMessage,
  SIGN_IN_WITH_X,
  type SIWxExtension,
} from '@x402/extensions/sign-in-with-x'
import { getAddress, isAddress } from 'viem'
import { mayReveal } from '../../orders/access.ts'
import type { FaultLog } from '../buying/deps.ts'
import { orNotNow } from '../buying/or-not-now.ts'
import { listOrders, ordersAsk } from '../buying/orders.ts'
import { type SignInAsk, signedInWallet, signInRequired } from '../buying/sign-in.ts'
import { orderStanding } from '../views/order.ts'
import type { FollowDeps } from './deps.ts'
import { walletOfPass, walletPass } from './passes.ts'

/** Where a person finds an order again; wallets sign in for it. */
export const findPath = '/find'
/** As many as a person looks through. */
const listMost = 50

/** What a wallet is asked to sign here. */
const ask: SignInAsk = ordersAsk(findPath)

/** What a transaction leads to. */
export interface PaidFor {
  /** Only for the wallet that paid. */
  readonly orderId?: string
  /** Where the order stands; absent where the money came and there is no order of it. */
  readonly standing?: ReturnType<typeof orderStanding>
}

/**
 * What a transaction paid for, or undefined. Everyone who reads the chain knows the transaction, so
 * it tells where the order stands, and which one it is only to the wallet that paid.
 *
 * @param text what a person pasted: a transaction, or the address of one in an explorer
 * @param pass of a wallet that has signed in
 * @throws Refusal `try_again`
 */
export async function paidBy(
  deps: FollowDeps,
  text: string,
  pass: string | undefined,
  log: FaultLog,
): Promise<PaidFor | undefined> {
  const hash = transactionIn(text)
  if (hash === undefined) return undefined
  const { orders, checkouts } = deps
  return orNotNow(log, async () => {
    const order = await orders.findByTransaction(hash)
    if (order === undefined) return (await checkouts?.findByTransaction(hash)) && {}
    const isOwn = await mayReveal(orders, order, { wallet: walletOfPass(deps, pass) })
    return isOwn ? { orderId: order.id } : { standing: orderStanding(order) }
  })
}

/** A transaction in what a person pasted: 64 hexadecimal digits, with 0x before them on EVM chains. */
export function transactionIn(text: string): string | undefined {
  const [hash] = /(?<![0-9a-z])(0x)?[0-9a-f]{64}(?![0-9a-z])/i.exec(text) ?? []
  return hash?.toLowerCase()
}

/**
 * What the wallet at this address signs (EIP-4361, as agents sign in), and what it is sent back with,
 * once its `signature` is added. Undefined where the text is no address.
 */
export function walletChallenge({ signIn }: FollowDeps, text: string) {
  if (!isAddress(text, { strict: false })) return undefined
  const address = getAddress(text)
  const { extensions = {} } = signInRequired(signIn, ask)
  const { info, supportedChains } = extensions[SIGN_IN_WITH_X] as SIWxExtension
  const complete = { ...info, ...supportedChains[0] } as CompleteSIWxInfo
  return { message: createSIWxMessage(complete, address), payload: { ...complete, address } }
}

/**
 * A pass for the wallet that signed.
 *
 * @param signed base64 of the signed message
 * @throws Refusal `sign_in_invalid`, `try_again`
 */
export async function passForWallet(
  deps: FollowDeps,
  signed: string,
  log: FaultLog,
): Promise<string | undefined> {
  const wallet = await orNotNow(log, () => signedInWallet(deps.signIn, signed, ask))
  return wallet && walletPass(deps, wallet)
}

/** The newest orders of the wallet that holds this pass; undefined where it is no pass. */
export async function ordersOfPass(deps: FollowDeps, pass: string | undefined, log: FaultLog) {
  const wallet = walletOfPass(deps, pass)
  if (wallet === undefined) return undefined
  const list = await listOrders(deps, wallet, { limit: listMost, offset: 0 }, log)
  return { wallet, ...list }
}
