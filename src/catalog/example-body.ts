import { type CountryCode, getExampleNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import type { Offer } from './offer.ts'
import type { Retail } from './pricing.ts'
import { requiredFieldsOf } from './purchase-body.ts'

export type ExampleBody = Readonly<Record<string, string | number>>

/** A body that buys this offer, for nobody: it passes the store's own checks. */
export function exampleBody(offer: Offer, retail: Retail): ExampleBody {
  const values: Readonly<Record<string, string | number>> = {
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'ada@example.com',
    country: offer.country ?? 'US',
    msisdn: exampleNumber(offer.country),
    value: retail.type === 'RANGE' ? retail.min / 100 : 0,
  }
  const asked = requiredFieldsOf(offer).map((name) => [name, values[name] ?? ''])
  return { offerId: offer.id, ...Object.fromEntries(asked) }
}

/** A number of the right form. The few territories without a numbering plan get a neutral one. */
function exampleNumber(country: string | undefined): string {
  const example = getExampleNumber(country as CountryCode, examples)
  return example?.number ?? '+5355564362'
}
