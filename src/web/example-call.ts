import { type CountryCode, getExampleNumber } from 'libphonenumber-js/max'
import examples from 'libphonenumber-js/mobile/examples'
import { purchasePath } from '../desk/paths.ts'
import type { Offer } from '../goods/offer.ts'
import type { Retail } from '../goods/pricing.ts'
import { requiredFieldsOf } from '../goods/purchase-body.ts'

/** What an agent sends to buy an offer, ready to be copied but for whom it is for. */
export interface ExampleCall {
  /** Asks for the exact price. Free. */
  readonly quote: string
  /** The same as a purchase: answers 402 with what is to be paid. */
  readonly purchase: string
  /** The JSON body of the purchase. */
  readonly body: Readonly<Record<string, string | number>>
}

/** The calls that buy this offer; they pass the store's own checks. */
export function exampleCall(offer: Offer, retail: Retail, siteUrl: string): ExampleCall {
  const url = `${siteUrl}${purchasePath(offer.kind)}`
  const body = exampleBody(offer, retail)
  const query = new URLSearchParams(
    Object.entries(body).map(([name, value]): [string, string] => [name, String(value)]),
  )
  return {
    quote: `curl ${quoted(`${url}?${query}`)}`,
    purchase: [
      `curl -i -X POST ${quoted(url)} \\`,
      "  -H 'content-type: application/json' \\",
      `  -d ${quoted(JSON.stringify(body))}`,
    ].join('\n'),
    body,
  }
}

/** An argument for a POSIX shell, whatever it holds. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function exampleBody(offer: Offer, retail: Retail): ExampleCall['body'] {
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
