import { regions, voucherSubTypes } from '../../goods/lists.ts'

/** One reading operation as the manifest lists it. */
export interface BrowseSchema {
  readonly path: string
  readonly name: string
  readonly description: string
  readonly properties: Readonly<Record<string, object>>
  readonly required?: readonly string[]
}

const base = '/api/catalog'
const text = (description: string) => ({ type: 'string', description })
const whole = (description: string, extra: object = {}) => ({
  type: 'integer',
  description,
  ...extra,
})
const countryCode = text('ISO 3166-1 alpha-2 country code')
/** The paging of every list of this interface. */
export const page = {
  limit: whole('Page size', { minimum: 1, maximum: 100, default: 20 }),
  offset: whole('Items to skip', { minimum: 0, default: 0 }),
}
const id = { id: text('offerId') }

/** The free operations of the catalog interface with what they take (service.md, Endpoints). */
export const browseSchemas: readonly BrowseSchema[] = [
  {
    path: `${base}/vouchers/offers`,
    name: 'Browse vouchers',
    description: 'Gift voucher offers with exact prices in USDC.',
    properties: {
      brand: text('Brand name or the beginning of its words'),
      country: countryCode,
      category: text(`A voucher sub-type, such as ${voucherSubTypes[0]}; see /vouchers/filters`),
      minValue: { type: 'number', description: 'Least face value in USD' },
      maxValue: { type: 'number', description: 'Greatest face value in USD' },
      ...page,
    },
  },
  offer('vouchers', 'Get a voucher offer'),
  list(
    'vouchers/brands',
    'Voucher brands',
    'Brands on sale, their countries and number of offers.',
  ),
  list('vouchers/countries', 'Voucher countries', 'Countries with voucher offers.'),
  list('vouchers/filters', 'Voucher filters', 'Valid values of brand, category and country.'),
  {
    path: `${base}/topups/offers`,
    name: 'Browse topups',
    description: 'Airtime, data and bundle offers of mobile operators.',
    properties: {
      country: countryCode,
      region: text('Region slug, such as south-asia; see /topups/regions'),
      operator: text('Operator name or the beginning of its words'),
      ...page,
    },
  },
  offer('topups', 'Get a topup offer'),
  list('topups/countries', 'Topup countries', 'Countries with topup offers.'),
  list('topups/regions', 'Topup regions', 'Regions with topup offers, with their slugs.'),
  {
    path: `${base}/esims/offers`,
    name: 'Browse eSIM plans',
    description: 'eSIM data plans for one country or many.',
    properties: {
      country: text('ISO-2 code; with regional=true a coverage requirement like covers'),
      covers: text('Comma-separated ISO codes; a plan must cover every one'),
      regions: { type: 'string', enum: regions, description: 'Exact region' },
      region: text('Region slug'),
      regional: { type: 'boolean', description: 'true returns only multi-country plans' },
      duration: whole('Plan duration in days', { minimum: 1 }),
      q: text('Free text'),
      ...page,
    },
  },
  offer('esims', 'Get an eSIM plan'),
]

function offer(family: string, name: string): BrowseSchema {
  const description =
    'One offer with its price, refund rule and the exact schema of the body that buys it.'
  return {
    path: `${base}/${family}/offers/{id}`,
    name,
    description,
    properties: id,
    required: ['id'],
  }
}

function list(path: string, name: string, description: string): BrowseSchema {
  return { path: `${base}/${path}`, name, description, properties: {} }
}
