import { CompactSign } from 'jose'
import {
  type Delivered,
  deliveryHash,
  type ReceiptAnswer,
  type ReceiptClaims,
  receiptType,
} from '../../orders/delivery-receipt.ts'
import {
  isPaid,
  isRefunding,
  type Order,
  type PaidOrder,
  refundStateOf,
} from '../../orders/order.ts'
import { paidIn, publicPayerOf } from '../../payments/payment.ts'
import type { SigningKeys } from '../../secrets/signing-keys.ts'
import type { Digest } from '../../secrets/tokens.ts'
import type { Vault } from '../../secrets/vault.ts'
import type { Site } from '../site.ts'
import { goodsOf } from './order.ts'

export interface ReceiptDeps {
  readonly site: Site
  readonly vault: Vault
  readonly keys: SigningKeys
  /** Makes the salt of an order, so that it need not be stored. */
  readonly salts: Pick<Digest, 'of'>
  readonly now: () => Date
}

/**
 * The signed receipt of an order, with the goods beside it for whoever may see them.
 *
 * @returns undefined while no payment is proven, so that nobody holds a receipt for nothing
 */
export async function receiptAnswer(
  deps: ReceiptDeps,
  order: Order,
  reveal: boolean,
): Promise<ReceiptAnswer | undefined> {
  if (!isPaid(order)) return undefined
  const delivered = deliveredOf(deps, order)
  const claims = claimsOf(deps, order, delivered && deliveryHash(delivered))
  const { kid, privateKey } = deps.keys.current
  const receipt = await new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'EdDSA', kid, typ: receiptType })
    .sign(privateKey)
  return { receipt, ...(reveal && delivered ? { delivered } : {}) }
}

/** What was delivered, as it is hashed. Pictures can be made again from the text beside them. */
function deliveredOf({ vault, salts }: ReceiptDeps, order: PaidOrder): Delivered | undefined {
  if (order.state !== 'FULFILLED') return undefined
  return { salt: salts.of(order.id), result: wellFormed(goodsOf(vault, order)) }
}

/** A supplier may send a lone surrogate, which canonical JSON cannot express. */
function wellFormed(goods: object): Delivered['result'] {
  const text = JSON.stringify(goods)
  return JSON.parse(text, (_, value) => (typeof value === 'string' ? value.toWellFormed() : value))
}

function claimsOf(
  { site, now }: ReceiptDeps,
  order: PaidOrder,
  sha256: string | undefined,
): ReceiptClaims {
  const { item, tender, receipt } = order
  return {
    iss: site.url,
    iat: Math.floor(now().getTime() / 1_000),
    sub: order.id,
    paymentId: order.paymentId,
    kind: item.kind,
    offerId: item.offerId,
    brandName: item.brandName,
    state: order.state,
    placed_at: order.placedAt.toISOString(),
    state_updated_at: order.changedAt.toISOString(),
    payment: {
      network: tender.network,
      asset: tender.asset,
      payer: publicPayerOf(tender),
      payTo: tender.payTo,
      amount_atomic: paidIn(tender).units.toString(),
      transaction: receipt.transaction,
      settlement: order.settlement === 'FINAL' ? 'final' : 'seen',
    },
    ...(sha256 === undefined ? {} : { delivery: { sha256 } }),
    ...refundClaim(order),
  }
}

function refundClaim(order: PaidOrder): Pick<ReceiptClaims, 'refund'> {
  const state = refundStateOf(order)
  if (state === null || !isRefunding(order)) return {}
  const { payout, tender } = order
  const sent = payout?.state === 'CONFIRMED' ? { transaction: payout.transaction } : {}
  return { refund: { state, amount_atomic: paidIn(tender).units.toString(), ...sent } }
}
