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

export const coarseRegions = {
  Europe: ['Western Europe', 'Eastern Europe'],
  Asia: ['Asia', 'South Asia', 'Southeast Asia'],
  Americas: ['North America', 'South America', 'Central America', 'Caribbean'],
  Africa: ['Africa'],
  'Middle East': ['Middle East and North Africa'],
  Global: ['Global'],
} as const satisfies Record<string, readonly Region[]>

export const cryptoCurrencies = ['BTC', 'ETH', 'USDT', 'LTC', 'XMR'] as const
