import type { Report } from './sources.ts'

/*
 * The id of an order follows from its payment and a key of the store, and the reference at the supplier
 * and the nonce of the refund follow from the id. Under a wrong key a lost payment has no purchase and
 * no refund, as if nothing had been bought: paid back then, it is paid back beside its goods.
 */

/** The keys of this environment are not those that the orders on record were named with. */
class WrongKeys extends Error {}

/** @throws WrongKeys when none of the keys has named the newest order on record in USDC */
export function requireKeys({ misnamed }: Pick<Report, 'misnamed'>): void {
  if (misnamed === undefined) return
  throw new WrongKeys(
    `None of the keys in SECRETS_KEY has named order ${misnamed}, the newest on record in USDC. ` +
      'Under wrong keys an order that was delivered or refunded is not found, and would be paid back. ' +
      'Put all keys into SECRETS_KEY that were in it when orders were last taken. Nothing was written.',
  )
}

/**
 * What the supplier or the chain has of an order that no payment explains, in words. While there is any,
 * a payment that neither of them knows may be the payment of that order, named with a key that is missing.
 */
export function unexplained({
  differences,
  lost,
}: Pick<Report, 'differences' | 'lost'>): string | undefined {
  const explained = new Set([
    ...lost.flatMap(({ ids }) => ids.map(({ id }) => id)),
    ...differences.flatMap(({ code, order }) => (code === 'invoice_unknown' && order) || []),
  ])
  const stray = differences.find(
    ({ code, order }) =>
      code === 'refund_without_order' ||
      (code === 'supplier_purchase_unknown' && order !== undefined && !explained.has(order)),
  )
  if (stray === undefined) return undefined
  return stray.code === 'refund_without_order'
    ? `refund ${stray.transaction} is of no order`
    : `the supplier has a purchase for ${stray.order}, which no payment explains`
}
