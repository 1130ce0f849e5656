import { foreignIccid, invalidBody, type LineItem } from '../catalog/purchase-body.ts'
import type { Refusal } from '../lib/refusal.ts'
import type { Digest } from '../secrets/tokens.ts'
import { notNow } from './not-now.ts'
import type { OrderStore, Supplier } from './ports.ts'

export interface ForeignEsimDeps {
  readonly orders: Pick<OrderStore, 'boughtIccid'>
  readonly supplier: Pick<Supplier, 'knowsIccid'>
  readonly digest: Digest
}

/**
 * Why this eSIM gets no other plan, or undefined when it may: it must be the buyer's, or one that the
 * supplier knows.
 */
export async function foreignEsim(
  deps: ForeignEsimDeps,
  { recipient }: Pick<LineItem, 'recipient'>,
  payer: string,
): Promise<Refusal | undefined> {
  if (recipient.kind !== 'esim' || recipient.iccid === undefined) return undefined
  if (await deps.orders.boughtIccid(payer, deps.digest.of(recipient.iccid))) return undefined
  const known = await deps.supplier.knowsIccid(recipient.iccid)
  if (known === 'yes') return undefined
  if (known === 'unknown') return notNow('The eSIM could not be looked up just now.', 'no')
  return invalidBody([{ parameter: 'iccid', message: foreignIccid }])
}
