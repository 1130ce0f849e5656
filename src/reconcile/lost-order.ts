import { firstSupplier } from '../catalog/offer.ts'
import type { OfferId } from '../lib/ids.ts'
import type { In, Item } from '../orders/order.ts'
import { hashOf, newAccessToken } from '../secrets/tokens.ts'
import type { SupplierPurchase } from '../suppliers/supplier.ts'
import type { ChainStatement } from './ports.ts'
import type { Ids, LostPayment } from './sources.ts'

/** The item of a lost order that was never placed at a supplier: nobody can know it any more. */
const unknownItem: Item = {
  kind: 'voucher',
  offerId: 'unknown' as OfferId,
  source: { supplier: firstSupplier, product: 'unknown' },
  brandName: 'unknown',
}

/**
 * The order of a payment whose record was lost, as far as it can be known: its ids follow from the payment,
 * the money from the chain, and the item from the supplier. The recipient is gone, and so is the access
 * token: the hash is of a token that nobody has. The buyer opens the goods by signing in with the wallet.
 */
export function lostOrder(
  { network, asset }: Pick<ChainStatement, 'network' | 'asset'>,
  { transfer, minedAt }: LostPayment,
  {
    ids,
    purchase,
    supplier,
  }: {
    readonly ids: Ids
    readonly purchase: SupplierPurchase | undefined
    readonly supplier: string
  },
): In<'PAYMENT_PENDING'> {
  return {
    state: 'PAYMENT_PENDING',
    ...ids,
    version: 1,
    item: purchase ? itemOf(purchase, supplier) : unknownItem,
    recipient: undefined,
    fingerprint: '',
    accessTokenHash: hashOf(newAccessToken()),
    tender: {
      rail: 'x402',
      network,
      asset,
      payTo: transfer.to,
      payer: transfer.from,
      amount: transfer.amount,
      nonce: transfer.nonce,
      validAfter: 0,
      validBefore: 0,
      signature: '0x',
      sinceBlock: transfer.block,
    },
    amount: transfer.amount,
    placedAt: minedAt,
    changedAt: minedAt,
  }
}

function itemOf({ kind, product, brandName, country }: SupplierPurchase, supplier: string): Item {
  const source = { supplier, product }
  // The offer's id in the catalog is not known; the product's id comes closest.
  const offerId = product as OfferId
  return { kind, offerId, source, brandName, ...(country === undefined ? {} : { country }) }
}
