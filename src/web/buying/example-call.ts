import { purchasePath } from '../../api/paths.ts'
import { type ExampleBody, exampleBody } from '../../catalog/example-body.ts'
import type { Offer } from '../../catalog/offer.ts'
import type { Retail } from '../../catalog/pricing.ts'

/** What an agent sends to buy an offer, ready to be copied but for whom it is for. */
export interface ExampleCall {
  /** Asks for the exact price. Free. */
  readonly quote: string
  /** The same as a purchase: answers 402 with what is to be paid. */
  readonly purchase: string
  /** The JSON body of the purchase. */
  readonly body: ExampleBody
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
