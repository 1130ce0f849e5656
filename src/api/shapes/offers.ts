import * as z from 'zod'

/** The published shapes of offers. */

const offerId = z.string().describe('Names the offer wherever one is asked for')
const countryCode = z.string().describe('ISO 3166-1 alpha-2 country code')
const names = z.array(z.string())

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

const allowance = {
  dataGb: z.number().optional(),
  dataUnlimited: z.boolean().optional(),
  durationDays: z.int().optional(),
}

const lineAllowance = {
  ...allowance,
  voiceMinutes: z.int().optional(),
  smsNumber: z.int().optional(),
}

const voucherFields = {
  ...shared,
  brandName: z.string(),
  country: countryCode,
  description: z.string().optional(),
  shortNotes: z.string().optional(),
  productType: z.string(),
  image: z.url().optional(),
}
const topupFields = { ...shared, brandName: z.string(), country: countryCode, ...lineAllowance }
const esimFields = { ...shared, ...allowance, shortNotes: z.string().optional() }

export const VoucherOffer = z.object(voucherFields).meta({ id: 'VoucherOffer' })
export const TopupOffer = z.object(topupFields).meta({ id: 'TopupOffer' })
export const EsimPlan = z.object(esimFields).meta({ id: 'EsimPlan' })

const usdcAmount = z.string().regex(/^\d+$/).describe('Atomic USDC: 1 USDC is 1000000')

/** What a purchase costs. Of an open value: at its least and its greatest, and the step of the value. */
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

const catalogFields = {
  kind: z.enum(['voucher', 'topup', 'esim']),
  productType: z.string(),
  shortNotes: z.string().optional(),
  priceType: z.enum(['FIXED', 'RANGE']),
  faceValue: Money.optional().describe('What the card or the line receives'),
  usdc: Usdc.optional(),
  requiredFields: names.describe('What the purchase body must carry besides offerId'),
  available: z.boolean(),
  unavailableReason: z.string().optional(),
}

const esimAllowance = {
  brandName: z.string(),
  ...lineAllowance,
  voiceUnlimited: z.boolean().optional(),
  smsUnlimited: z.boolean().optional(),
}

const categories = names.describe('What the supplier files it under; `category` finds it by these')

const catalogShapes = {
  voucher: { ...voucherFields, ...catalogFields, categories },
  topup: { ...topupFields, ...esimAllowance, ...catalogFields },
  esim: { ...esimFields, ...esimAllowance, ...catalogFields },
} as const

/** An offer as the catalog interface lists it. */
export const CatalogOffer = {
  voucher: z.object(catalogShapes.voucher).meta({ id: 'CatalogVoucher' }),
  topup: z.object(catalogShapes.topup).meta({ id: 'CatalogTopup' }),
  esim: z.object(catalogShapes.esim).meta({ id: 'CatalogEsim' }),
} as const

const detailFields = {
  notes: z.string().optional(),
  refundRule: z.string().describe('When this kind of good is paid back'),
  purchase: z.object({
    method: z.literal('POST'),
    url: z.url(),
    quoteUrl: z.url().describe('The exact price, free'),
    bodySchema: z.record(z.string(), z.unknown()).describe('JSON Schema of the body that buys it'),
  }),
}

/** The full record of one offer. */
export const OfferDetail = {
  voucher: z
    .object({
      ...catalogShapes.voucher,
      ...detailFields,
      redemptionInstructions: z.string().optional(),
    })
    .meta({ id: 'VoucherDetail' }),
  topup: z.object({ ...catalogShapes.topup, ...detailFields }).meta({ id: 'TopupDetail' }),
  esim: z
    .object({
      ...catalogShapes.esim,
      ...detailFields,
      coverage: z.array(z.object({ country: countryCode, name: z.string(), speeds: names })),
    })
    .meta({ id: 'EsimDetail' }),
} as const
