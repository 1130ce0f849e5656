import * as z from 'zod'
import { byKind, goods, kinds } from '../../catalog/good.ts'
import { countryCode, names } from '../../catalog/kinds/fields.ts'
import { titleOf } from '../paths.ts'

/** The published shapes of offers. */

const offerId = z.string().describe('Names the offer wherever one is asked for')

const Money = z
  .object({
    currency: z.string().describe('ISO 4217 code'),
    currencyDivisor: z.int().min(1).describe('Minor units in one of the currency'),
    fixed: z.int().optional(),
    min: z.int().optional(),
    max: z.int().optional(),
  })
  .meta({
    id: 'Money',
    description:
      'An amount in whole minor units: major = value / currencyDivisor, so 2500 with divisor 100 is 25.00. Either fixed, or min and max.',
  })

const shared = {
  offerId,
  brand: z.string().describe('Key of the brand, operator or provider'),
  country: countryCode.optional(),
  regions: names,
  subTypes: names,
  price: Money,
  buy_url: z.url().describe('The page where people see and buy this offer'),
}

/** An offer as the discovery interface shows it. */
export const DiscoveryOffer = byKind((kind) => {
  const { name, discovery } = goods[kind].published
  return z.object({ ...shared, ...discovery }).meta({ id: name })
})

const usdcAmount = z.string().regex(/^\d+$/).describe('Atomic USDC: 1 USDC is 1000000')

/**
 * The price of a purchase. For an open value: the prices of the least and the greatest value, and the step of values.
 */
const Usdc = z
  .object({
    amount: usdcAmount.optional(),
    min: usdcAmount.optional(),
    max: usdcAmount.optional(),
    increment: usdcAmount.optional(),
    decimals: z.literal(6),
  })
  .meta({
    id: 'Usdc',
    description:
      'What a purchase costs: amount; or, for an open value, min and max, which the least and the greatest value cost, and increment, the step from one value to the next. The price of a value between them is that of its quote.',
  })

const OpenValue = z
  .object({ unit: z.literal('USD'), min: z.number(), max: z.number(), step: z.number() })
  .meta({
    id: 'OpenValue',
    description:
      'What the field `value` of a purchase takes, in US dollars and not in minor units: 25 is 25.00 USD.',
  })

const catalogFields = {
  kind: z.enum(kinds),
  productType: z.string(),
  shortNotes: z.string().optional(),
  priceType: z.enum(['FIXED', 'RANGE']),
  value: OpenValue.optional(),
  faceValue: Money.optional().describe('What the card or the line receives'),
  usdc: Usdc.optional(),
  requiredFields: names.describe('What the purchase body must carry besides offerId'),
  available: z.boolean(),
  unavailableReason: z.string().optional(),
}

const catalogShapes = byKind((kind) => {
  const { discovery, catalog } = goods[kind].published
  return { ...shared, ...discovery, ...catalogFields, ...catalog }
})

/** An offer as the catalog interface lists it. */
export const CatalogOffer = byKind((kind) =>
  z.object(catalogShapes[kind]).meta({ id: `Catalog${titleOf(kind)}` }),
)

const detailFields = {
  notes: z.string().optional(),
  refundRule: z.string().describe('When this kind of good is paid back'),
  purchase: z.object({
    method: z.literal('POST'),
    url: z.url(),
    quoteUrl: z.url().describe('The exact price, free'),
    bodySchema: z.record(z.string(), z.unknown()).describe('JSON Schema of the body that buys it'),
    example: z.record(z.string(), z.unknown()).describe('Such a body, for nobody'),
  }),
}

/** The full record of one offer. */
export const OfferDetail = byKind((kind) =>
  z
    .object({ ...catalogShapes[kind], ...detailFields, ...goods[kind].published.detail })
    .meta({ id: `${titleOf(kind)}Detail` }),
)
