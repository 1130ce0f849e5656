import type { Shelf } from '../goods/catalog.ts'
import type { Kind } from '../goods/offer.ts'
import { invalidBody } from '../goods/purchase-body.ts'

/**
 * The fields of a purchase among the arguments, and of which kind it is: the offer says so.
 *
 * @throws Refusal `invalid_body` without an offerId
 */
export function wishIn(
  fields: Readonly<Record<string, unknown>>,
  shelf: Shelf,
): { kind: Kind; fields: Record<string, unknown> } {
  const { offerId } = fields
  if (typeof offerId !== 'string' || offerId === '') {
    throw invalidBody([{ parameter: 'offerId', message: 'is required: the id of an offer' }])
  }
  // Where there is no such offer the desk says so, whatever kind is asked for.
  return { kind: shelf.current().find(offerId)?.kind ?? 'voucher', fields: { ...fields } }
}
