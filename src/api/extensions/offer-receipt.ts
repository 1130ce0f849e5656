import {
  createJWS,
  createJWSOfferReceiptIssuer,
  type JWSSignedReceipt,
  OFFER_RECEIPT,
  type OfferReceiptIssuer,
  type ReceiptPayload,
} from '@x402/extensions/offer-receipt'
import { isPaid, type Order } from '../../orders/order.ts'
import type { Accepts } from '../../payments/terms.ts'
import type { SigningKeys } from '../../secrets/signing-keys.ts'
import type { Site } from '../site.ts'
import { didOf } from '../store.ts'

/** Signs the offers and receipts of the x402 extension. */
export interface Issuer extends Pick<OfferReceiptIssuer, 'issueOffer'> {
  signReceipt(payload: ReceiptPayload): Promise<JWSSignedReceipt>
}

/**
 * Only the package's signing is used. Its hooks for the stock server omit the transaction from receipts, and name in
 * them the URL that a proxy requested instead of the public one. Its receipts also have the time of signing, so a
 * repeated request would get a different one.
 */
export function createIssuer(site: Site, keys: SigningKeys): Issuer {
  // Read each time, because the current key may have changed.
  const signerNow = () => {
    const { kid, sign } = keys.current
    return {
      ...{ kid: `${didOf(site)}#${kid}`, format: 'jws' as const, algorithm: 'EdDSA' },
      sign: async (bytes: Uint8Array) => sign(bytes),
    }
  }
  return {
    issueOffer(resourceUrl, offer) {
      const signer = signerNow()
      return createJWSOfferReceiptIssuer(signer.kid, signer).issueOffer(resourceUrl, offer)
    },
    signReceipt: async (payload) => ({
      format: 'jws',
      signature: await createJWS(payload, signerNow()),
    }),
  }
}

/**
 * The signed terms of a 402, with which a buyer can prove later what was asked of them.
 *
 * @param offerValiditySeconds how long the price is valid
 */
export async function signedOffers(
  issuer: Issuer,
  resourceUrl: string,
  accepts: Accepts,
  offerValiditySeconds: number,
) {
  const offers = await Promise.all(
    accepts.map(({ scheme, network, asset, payTo, amount }, acceptIndex) =>
      issuer.issueOffer(resourceUrl, {
        ...{ acceptIndex, scheme, network, asset, payTo, amount, offerValiditySeconds },
      }),
    ),
  )
  return { [OFFER_RECEIPT]: { info: { offers }, schema: offersSchema } }
}

/**
 * The signed receipt of a payment, the same at every request. Empty while the payment is not proven, or if the chain
 * dropped it.
 */
export async function signedReceipt(
  issuer: Issuer,
  resourceUrl: string,
  order: Order,
): Promise<Record<string, object>> {
  if (!isPaid(order)) return {}
  const { payer, network } = order.tender
  const receipt = await issuer.signReceipt({
    version: 1,
    network,
    resourceUrl,
    payer,
    issuedAt: Math.floor(order.paidAt.getTime() / 1_000),
    transaction: order.receipt.transaction,
  })
  return { [OFFER_RECEIPT]: { info: { receipt }, schema: receiptSchema } }
}

/** The package's schemas are ten times as long; the signed content needs no description. */
const offersSchema = { type: 'object', required: ['offers'] }
const receiptSchema = { type: 'object', required: ['receipt'] }
