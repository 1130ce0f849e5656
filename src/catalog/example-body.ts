import { kindOf } from './good.ts'
import type { Offer } from './offer.ts'
import type { Retail } from './pricing.ts'
import { requiredFieldsOf } from './purchase-body.ts'

export type ExampleBody = Readonly<Record<string, string | number | boolean>>

/** A body that would buy this offer, for a made-up recipient. It passes the store's own checks. */
export function exampleBody(offer: Offer, retail: Retail): ExampleBody {
  const { fields } = kindOf(offer)
  const value = retail.type === 'RANGE' ? retail.min / 100 : 0
  const asked = requiredFieldsOf(offer).map((name) => [
    name,
    name === 'value' ? value : (fields[name]?.example(offer) ?? ''),
  ])
  return { offerId: offer.id, ...Object.fromEntries(asked) }
}
