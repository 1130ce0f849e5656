import { createDocument } from 'zod-openapi'
import { discoveryVersion } from '../src/api/discovery/service-index.ts'
import { type Group, groups, type Operation } from '../src/api/operation.ts'
import { readConfig } from '../src/config.ts'
import type { Example, Recorded } from './examples.ts'
import { operationObject, sharedHeaders } from './operation-object.ts'

/** What an agent should know before its first call. Indexes show it; it must stay below 4,000 characters. */
const guidance = `Gift vouchers, mobile topups and eSIM data plans, paid per purchase with x402 in USDC. No account, no key.

1. Find an offer: searchVouchers, searchTopups, searchEsims (only what is on sale, free), or browseVouchers, browseTopups, browseEsims (with exact prices). Take its offerId. voucherOffer, topupOffer and esimOffer give the exact schema of the body that buys it.
2. Ask what it costs: quoteVoucher, quoteTopup, quoteEsim take the fields of the purchase in the query. Nothing is stored or charged.
3. Buy: purchaseVoucher, purchaseTopup, purchaseEsim. Without a payment the answer is 402 with the price; sign accepts[0] and send the same request with PAYMENT-SIGNATURE. Add an Idempotency-Key of your own.
4. 200 has the goods. 202 means not yet: read Location again after Retry-After. Never pay a second time while an order is PAYMENT_PENDING, PAID or FULFILLING. When an answer was lost, send the very same request with the same payment: it gives the same order.
5. Keep orderId and accessToken: Authorization: Bearer {accessToken} on getOrder shows the goods again. A wallet can also sign in (SIGN-IN-WITH-X) and list its orders.
6. What is not delivered is refunded in full to the paying wallet by itself; getRefund watches it.

Amounts: price and faceValue are in minor units with currencyDivisor; usdc is atomic (1 USDC is 1000000). Read signals in the manifest first: stop means that purchases are refused. Errors name the one parameter at fault and what to do; retryable and charged say whether to send the same request again.`

const textsOfGroups: Readonly<Record<Group, string>> = {
  Discovery: 'Search everything that is on sale. Free, without a key.',
  Catalog: 'Browse everything, with exact prices and what cannot be bought just now.',
  Buying: 'Ask for the price, and buy.',
  Orders: 'Read orders, and watch or claim refunds.',
  Store: 'The store itself: its manifest and its health.',
}

export const documentSite = readConfig({}).site

/** For the store `documentSite`; a running store replaces it with itself. */
export function openApiOf(operations: readonly Operation[], recorded: Recorded): object {
  const { name, description, contact, url } = documentSite
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: name,
        version: discoveryVersion,
        description,
        contact: { name, email: contact, url },
        license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
        'x-guidance': guidance,
      },
      servers: [{ url }],
      tags: groups.map((group) => ({ name: group, description: textsOfGroups[group] })),
      paths: pathsOf(operations, recorded),
      components: {
        headers: sharedHeaders,
        securitySchemes: {
          // Tools for x402 recognise this scheme by its name.
          siwx: {
            type: 'apiKey',
            in: 'header',
            name: 'SIGN-IN-WITH-X',
            description:
              'The challenge of the 402, signed by the paying wallet (x402 extension sign-in-with-x); base64 of JSON.',
            'x-agentcash-auth-kind': 'siwx',
          },
        },
      },
      'x-service-info': {
        categories: ['commerce', 'digital-goods'],
        docs: { homepage: url, apiReference: `${url}/llms-full.txt` },
      },
    },
    {
      override: ({ jsonSchema, io }) => {
        // Answers may get new fields, which clients must accept.
        if (io === 'output' && jsonSchema.additionalProperties === false) {
          delete jsonSchema.additionalProperties
        }
        // The format already says what the pattern does.
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      },
    },
  )
}

function pathsOf(operations: readonly Operation[], recorded: Recorded) {
  const byPath = Object.groupBy(operations, ({ path }) => path)
  return Object.fromEntries(
    Object.entries(byPath).map(([path, all = []]) => {
      const methods = all.map((one) => {
        return [one.method.toLowerCase(), operationObject(one, briefly(recorded[one.id] ?? []))]
      })
      return [path, Object.fromEntries(methods)]
    }),
  )
}

/** The first success and all refusals; the store serves the others on request (`src/http/caching.ts`). */
function briefly(examples: readonly Example[]): readonly Example[] {
  const first = examples.find(({ status }) => status < 400)
  return examples.filter((example) => example === first || example.status >= 400)
}
