import {
  createJWSOfferReceiptIssuer,
  OFFER_RECEIPT,
  type OfferReceiptIssuer,
} from '@x402/extensions/offer-receipt'
import { isPaid, type Order } from '../../orders/order.ts'
import type { Terms } from '../../payments/x402.ts'
import type { SigningKeys } from '../../secrets/signing-keys.ts'
import { didOf } from '../keys.ts'
import type { Site } from '../site.ts'

/**
 * Signs offers and receipts of the x402 extension. Only the package's issuer is used: its hooks for
 * the stock server leave the transaction out of receipts, and name in them the address that a proxy
 * asked for instead of the public one.
 */
export function createIssuer(site: Site, keys: SigningKeys): OfferReceiptIssuer {
  const kid = `${didOf(site)}#${keys.current.kid}`
  return createJWSOfferReceiptIssuer(kid, {
    kid,
    format: 'jws',
    algorithm: 'EdDSA',
    sign: async (bytes) => keys.sign(bytes),
  })
}

/**
 * What the store offers in a 402, signed: a buyer can show later what was asked of them.
 *
 * @param offerValiditySeconds for how long the store stands by the price
 */
export async function signedOffer(
  issuer: OfferReceiptIssuer,
  resourceUrl: string,
  { scheme, network, asset, payTo, amount }: Terms,
  offerValiditySeconds: number,
) {
  const offer = await issuer.issueOffer(resourceUrl, {
    ...{ acceptIndex: 0, scheme, network, asset, payTo, amount, offerValiditySeconds },
  })
  return { [OFFER_RECEIPT]: { info: { offers: [offer] }, schema: offersSchema } }
}

/** The signed receipt of a payment; nothing while it is not proven, or when the chain dropped it. */
export async function signedReceipt(
  issuer: OfferReceiptIssuer,
  resourceUrl: string,
  order: Order,
): Promise<Record<string, object>> {
  if (!isPaid(order)) return {}
  const { payer, network } = order.tender
  const { transaction } = order.receipt
  const receipt = await issuer.issueReceipt(resourceUrl, payer, network, transaction)
  return { [OFFER_RECEIPT]: { info: { receipt }, schema: receiptSchema } }
}

/** The package's have ten times the length; what is signed, the signature itself describes. */
const offersSchema = { type: 'object', required: ['offers'] }
const receiptSchema = { type: 'object', required: ['receipt'] }
