/** The closed lists of values that the interfaces publish, in their published order. */

export const voucherSubTypes = [
  'Gaming & Entertainment',
  'Restaurant',
  'Food & Beverage',
  'Shopping',
  'Travel & Experience',
  'Supermarket',
  'Electronics',
  'Digital Apps',
  'Health & Beauty',
  'Sports & Outdoors',
  'Utilities',
  'Home & Garden',
  'Clothing & Accessories',
  'General Merchandise',
  'Dating',
  'EGIFT',
] as const

export const topupSubTypes = ['data', 'voice', 'bundle'] as const

/** The regions of the discovery search over topups. */
export const topupRegions = [
  'Africa',
  'Asia',
  'Southeast Asia',
  'South Asia',
  'Western Europe',
  'Eastern Europe',
  'Middle East and North Africa',
  'North America',
  'South America',
  'Central America',
  'Caribbean',
  'Oceania',
] as const

/** The regions that offers carry, and that eSIM browsing takes. */
export const regions = [
  'Global',
  'Africa',
  'Asia',
  'Caribbean',
  'Central America',
  'Eastern Europe',
  'Western Europe',
  'North America',
  'Oceania',
  'South America',
  'South Asia',
  'Southeast Asia',
  'Middle East and North Africa',
] as const
export type Region = (typeof regions)[number]

/** These regions name single-country plans only: no multi-country plan carries them. */
export const singleCountryRegions: readonly Region[] = [
  'South America',
  'South Asia',
  'Southeast Asia',
]

/** The coarse names of the discovery search over eSIMs, and the regions that each one means. */
export const coarseRegions = {
  Europe: ['Western Europe', 'Eastern Europe'],
  Asia: ['Asia', 'South Asia', 'Southeast Asia'],
  Americas: ['North America', 'South America', 'Central America', 'Caribbean'],
  Africa: ['Africa'],
  'Middle East': ['Middle East and North Africa'],
  Global: ['Global'],
} as const satisfies Record<string, readonly Region[]>

/** The currencies that people can pay with on the website, as the index lists them. */
export const cryptoCurrencies = ['BTC', 'ETH', 'USDT', 'LTC', 'XMR'] as const
