import { invalidBody, type Refusal } from '../lib/refusal.ts'
import type { Digest } from '../secrets/tokens.ts'
import type { Suppliers } from '../suppliers/supplier.ts'
import { notNow } from './not-now.ts'
import type { OrderStore } from './ports.ts'
import type { Priced } from './price.ts'

export interface ForeignEsimDeps {
  readonly orders: Pick<OrderStore, 'boughtIccid'>
  readonly suppliers: Suppliers
  readonly digest: Digest
}

type Recharge = Pick<Priced, 'offer' | 'lineItem'>

/** The ICCID of the eSIM that the purchase recharges; undefined if it names none. */
export function rechargedIccid({ lineItem: { recipient } }: Recharge): string | undefined {
  return 'iccid' in recipient ? recipient.iccid : undefined
}

/**
 * Why this eSIM may not be recharged, or undefined if it may: this store must have delivered it to this payer,
 * or the supplier must know it.
 *
 * @param payer undefined while nobody pays yet: then the supplier must know it
 */
export async function foreignEsim(
  deps: ForeignEsimDeps,
  priced: Recharge,
  payer: string | undefined,
): Promise<Refusal | undefined> {
  const iccid = rechargedIccid(priced)
  if (iccid === undefined) return undefined
  if (payer !== undefined && (await deps.orders.boughtIccid(payer, deps.digest.of(iccid)))) {
    return undefined
  }
  const known = await deps.suppliers.at(priced.offer.source).knowsIccid(iccid)
  if (known === 'yes') return undefined
  if (known === 'unknown') return notNow('The eSIM could not be looked up just now.', 'no')
  return invalidBody([{ field: 'iccid', code: 'foreign_esim' }])
}
