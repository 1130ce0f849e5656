import * as z from 'zod'
import { countryCode, names } from '../catalog/kinds/kind.ts'
import { goods } from '../catalog/kinds.ts'
import { byKind, kindOf, kinds, type MoneyRange, type Offer } from '../catalog/offer.ts'
import { withMarkup } from '../catalog/open-price.ts'
import { marginOf, type Retail, retailOf } from '../catalog/pricing.ts'
import { bodySchemaFor, exampleBody, requiredFieldsOf } from '../catalog/purchase-body.ts'
import { type Cents, usdcDecimals, usdcFromCents } from '../lib/money.ts'
import {
  atomic,
  buyPath,
  type Fields,
  type Published,
  publish,
  purchasePath,
  type ReadDeps,
  shapeOf,
  titleOf,
} from './operation.ts'

interface OfferDeps extends Pick<ReadDeps, 'pricing'> {
  readonly site: { readonly url: string }
}

interface PricedOffer extends OfferDeps {
  readonly offer: Offer
  readonly retail: Retail
}

/** A price as published: always an object, with integers in minor units (docs/contributors/decisions/003). */
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

const usdcAmount = atomic.describe('Atomic USDC: 1 USDC is 1000000')

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

const Purchase = z.object({
  method: z.literal('POST'),
  url: z.url(),
  quoteUrl: z.url().describe('The exact price, free'),
  bodySchema: z.record(z.string(), z.unknown()).describe('JSON Schema of the body that buys it'),
  example: z.record(z.string(), z.unknown()).describe('Such a body, for nobody'),
})

const shared: Fields<PricedOffer> = {
  offerId: [
    z.string().describe('Names the offer wherever one is asked for'),
    ({ offer }) => offer.id,
  ],
  brand: [
    z.string().describe('Key of the brand, operator or provider'),
    ({ offer }) => offer.brand,
  ],
  country: [countryCode.optional(), ({ offer }) => offer.country],
  regions: [names, ({ offer }) => offer.regions],
  subTypes: [names, ({ offer }) => offer.subTypes],
  price: [Money, priceOf],
  buy_url: [
    z.url().describe('The page where people see and buy this offer'),
    ({ offer, site }) => `${site.url}${buyPath(offer.id)}`,
  ],
}

const inCatalog: Fields<PricedOffer> = {
  kind: [z.enum(kinds), ({ offer }) => offer.kind],
  productType: [z.string(), ({ offer }) => offer.productType],
  shortNotes: [z.string().optional(), ({ offer }) => offer.shortNotes],
  priceType: [z.enum(['FIXED', 'RANGE']), ({ offer }) => offer.price.type],
  value: [OpenValue.optional(), openValueOf],
  faceValue: [
    Money.optional().describe('What the card or the line receives'),
    ({ offer }) => offer.faceValue && moneyOf(offer.faceValue),
  ],
  usdc: [Usdc.optional(), usdcOf],
  requiredFields: [
    names.describe('What the purchase body must carry besides offerId'),
    ({ offer }) => requiredFieldsOf(offer),
  ],
  available: [z.boolean(), ({ retail }) => retail.type !== 'NOT_SOLD'],
  unavailableReason: [
    z.string().optional(),
    ({ retail }) => (retail.type === 'NOT_SOLD' ? retail.reason : undefined),
  ],
}

const inDetail: Fields<PricedOffer> = {
  notes: [z.string().optional(), ({ offer }) => offer.notes],
  refundRule: [
    z.string().describe('When this kind of good is paid back'),
    ({ offer }) => kindOf(offer).refundRule,
  ],
  purchase: [Purchase, purchaseOf],
}

const forms = byKind((kind) => {
  const { name, ...own } = goods[kind].published
  const discovery = { ...shared, ...ownFields(own.discovery) }
  const catalog = { ...discovery, ...inCatalog, ...ownFields(own.catalog) }
  const detail = { ...catalog, ...inDetail, ...ownFields(own.detail) }
  return { discovery, catalog, detail }
})

function ownFields(shapes: z.ZodRawShape): Fields<PricedOffer> {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => {
      const value = ({ offer }: PricedOffer) => {
        const own = { ...('allowance' in offer ? offer.allowance : {}), ...offer } as Published
        return kindOf(offer).publishedValue?.(offer, name) ?? own[name]
      }
      return [name, [shape as z.ZodType, value]]
    }),
  )
}

export const DiscoveryOffer = byKind((kind) =>
  shapeOf(forms[kind].discovery, goods[kind].published.name),
)
export const CatalogOffer = byKind((kind) =>
  shapeOf(forms[kind].catalog, `Catalog${titleOf(kind)}`),
)
export const OfferDetail = byKind((kind) => shapeOf(forms[kind].detail, `${titleOf(kind)}Detail`))

export function discoveryOffer(offer: Offer, deps: OfferDeps): Published {
  return publish(forms[offer.kind].discovery, withRetail(offer, deps))
}

export function catalogOffer(offer: Offer, deps: OfferDeps): Published {
  return publish(forms[offer.kind].catalog, withRetail(offer, deps))
}

export function offerDetail(offer: Offer, deps: OfferDeps) {
  const detail = publish(forms[offer.kind].detail, withRetail(offer, deps))
  return detail as Published & { readonly purchase: ReturnType<typeof purchaseOf> }
}

function withRetail(offer: Offer, { pricing, site }: OfferDeps): PricedOffer {
  return { offer, pricing, site, retail: retailOf(offer, pricing) }
}

/** The supplier's price with the margin, unless it is in dollars or does not determine ours: then what a buyer pays. */
function priceOf({ offer, retail, pricing }: PricedOffer): z.infer<typeof Money> {
  const { price } = offer
  const { bps, cents } = marginOf(offer, pricing)
  const dollars = { currency: 'USD', currencyDivisor: 100 }
  if (retail.type === 'RANGE') return { ...dollars, min: retail.lowest, max: retail.highest }
  const isOurs = retail.type === 'FIXED' && (retail.by === 'cost' || cents !== 0)
  const isInDollars = price.currency === 'USD' || isOurs
  if (retail.type === 'FIXED' && isInDollars) return { ...dollars, fixed: retail.cents }
  return moneyOf(price, (minor) => withMarkup(minor, bps))
}

function moneyOf(
  money: MoneyRange,
  change: (minor: number) => number = (minor) => minor,
): z.infer<typeof Money> {
  const { currency, divisor } = money
  const unit = { currency, currencyDivisor: divisor }
  return money.type === 'FIXED'
    ? { ...unit, fixed: change(money.fixed) }
    : { ...unit, min: change(money.min), max: change(money.max) }
}

function openValueOf({ retail }: PricedOffer): z.infer<typeof OpenValue> | undefined {
  if (retail.type !== 'RANGE') return undefined
  const { min, max, increment } = retail
  return { unit: 'USD', min: min / 100, max: max / 100, step: increment / 100 }
}

/** An open value: the prices of the least and the greatest, and the step, which has no markup. */
function usdcOf({ retail }: PricedOffer): z.infer<typeof Usdc> | undefined {
  const atomic = (amount: Cents) => usdcFromCents(amount).toString()
  switch (retail.type) {
    case 'FIXED':
      return { amount: atomic(retail.cents), decimals: usdcDecimals }
    case 'RANGE': {
      const { lowest, highest, increment } = retail
      const bounds = { min: atomic(lowest), max: atomic(highest) }
      return { ...bounds, increment: atomic(increment), decimals: usdcDecimals }
    }
    case 'NOT_SOLD':
      return undefined
  }
}

function purchaseOf({ offer, retail, site }: PricedOffer) {
  const url = `${site.url}${purchasePath(offer.kind)}`
  return {
    method: 'POST',
    url,
    quoteUrl: `${url}?offerId=${encodeURIComponent(offer.id)}`,
    bodySchema: bodySchemaFor(offer, retail),
    example: exampleBody(offer, retail),
  }
}
