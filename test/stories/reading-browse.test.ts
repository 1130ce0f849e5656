import { beforeAll, describe, expect, test } from 'vitest'
import { regions, singleCountryRegions, topupRegions } from '../../src/catalog/lists.ts'
import { allItems, callerFor } from './reading.ts'
import { useStore } from './store.ts'

interface Money {
  readonly currency: string
  readonly currencyDivisor: number
  readonly fixed?: number
  readonly min?: number
  readonly max?: number
}
interface Offer {
  readonly offerId: string
  readonly brandName: string
  readonly country?: string
  readonly regions: readonly string[]
  readonly categories: readonly string[]
  readonly durationDays?: number
  readonly faceValue?: Money
  readonly coverage: readonly { readonly country: string }[]
}

const store = useStore({ offers: 1_500 })
const call = callerFor(store)
const all: Record<string, readonly Offer[]> = {}

beforeAll(async () => {
  for (const family of ['vouchers', 'topups', 'esims']) {
    const items = await allItems(call, `/api/catalog/${family}/offers`, 100)
    all[family] = items as unknown as Offer[]
  }
  const details = (all['esims'] ?? []).map(
    async ({ offerId }) => (await call(`/api/catalog/esims/offers/${offerId}`)).body,
  )
  all['esims'] = await Promise.all(details)
})

const idsOf = (offers: readonly { readonly offerId: string }[]) =>
  offers.map(({ offerId }) => offerId)

/** Asks, and expects exactly the offers that the test is true for, in the published order. */
async function expectExactly(
  family: string,
  query: Record<string, string>,
  isFound: (offer: Offer) => boolean,
): Promise<number> {
  const expected = (all[family] ?? []).filter(isFound)
  const path = `/api/catalog/${family}/offers?${new URLSearchParams(query)}&limit=100`
  const { status, body } = await call(path)
  expect(status, path).toBe(200)
  expect(idsOf(body.items), path).toEqual(idsOf(expected.slice(0, 100)))
  expect(body.total).toBe(expected.length)
  expect('hint' in body).toBe(expected.length === 0)
  return expected.length
}

const slugOf = (name: string) => name.toLowerCase().replaceAll(' ', '-')
const covers = ({ coverage }: Offer, code: string) =>
  coverage.some(({ country }) => country === code)
const isRegional = ({ country }: Offer) => country === undefined

test('browse pages hold everything once, 20 at a time unless asked otherwise', async () => {
  for (const family of ['vouchers', 'topups', 'esims']) {
    const { body } = await call(`/api/catalog/${family}/offers`)
    expect([body.limit, body.offset, body.items.length]).toEqual([20, 0, 20])
    const whole = idsOf(all[family] ?? [])
    expect(new Set(whole).size).toBe(whole.length)
    const small = await allItems(call, `/api/catalog/${family}/offers`, 41)
    expect(small.map(({ offerId }) => offerId)).toEqual(whole)
  }
})

describe('vouchers', () => {
  test('by category, each one that the filters name', async () => {
    const { body } = await call('/api/catalog/vouchers/filters')
    expect(body.categories.length).toBeGreaterThan(15)
    for (const category of body.categories as string[]) {
      const is = ({ categories }: Offer) => categories.includes(category)
      expect(await expectExactly('vouchers', { category }, is), category).toBeGreaterThan(0)
      await expectExactly('vouchers', { category: category.toUpperCase() }, is)
    }
  })

  test('by brand and country, each one that the filters name', async () => {
    const { body } = await call('/api/catalog/vouchers/filters')
    for (const country of body.countries as string[]) {
      const is = (offer: Offer) => offer.country === country
      expect(await expectExactly('vouchers', { country }, is)).toBeGreaterThan(0)
    }
    for (const brand of (body.brands as string[]).filter((_, at) => at % 10 === 0)) {
      const found = await call(
        `/api/catalog/vouchers/offers?brand=${encodeURIComponent(brand)}&limit=100`,
      )
      const own = (all['vouchers'] ?? []).filter(({ brandName }) => brandName === brand)
      expect(idsOf(found.body.items), brand).toEqual(expect.arrayContaining(idsOf(own)))
    }
  })

  test.each([
    [0, 10],
    [10, 25],
    [25, 25],
    [100, 1_000],
    [12.5, 99.99],
  ])('by face value from %d to %d dollars', async (minValue, maxValue) => {
    const inDollars = (offer: { faceValue?: Money }) => offer.faceValue?.currency === 'USD'
    const meets = ({ faceValue }: Offer) => {
      const { fixed, min = 0, max = 0, currencyDivisor } = faceValue as Money
      const [low, high] = [(fixed ?? min) / currencyDivisor, (fixed ?? max) / currencyDivisor]
      return high >= minValue && low <= maxValue
    }
    const path = `/api/catalog/vouchers/offers?minValue=${minValue}&maxValue=${maxValue}`
    const found = (await allItems(call, path, 100)) as unknown as Offer[]
    const expected = (all['vouchers'] ?? []).filter((offer) => inDollars(offer) && meets(offer))
    expect(expected.length).toBeGreaterThan(0)
    expect(idsOf(found.filter(inDollars))).toEqual(idsOf(expected))
  })

  test('by one bound alone', async () => {
    const total = async (query: string) =>
      (await call(`/api/catalog/vouchers/offers?${query}`)).body.total
    const whole = all['vouchers']?.length ?? 0
    const open = (all['vouchers'] ?? []).filter(({ faceValue }) => faceValue?.min !== undefined)
    const [from, to] = [await total('minValue=50'), await total('maxValue=49.99')]
    expect(from).toBeGreaterThan(0)
    // Each offer is on one side; open values may be on both, and some have no value in dollars.
    expect(from + to).toBeLessThanOrEqual(whole + open.length)
    expect(from + to).toBeGreaterThan(whole * 0.9)
  })
})

describe('topups', () => {
  test('by region, by its slug and by its name', async () => {
    for (const region of topupRegions) {
      const is = (offer: Offer) => offer.regions.includes(region)
      expect(await expectExactly('topups', { region: slugOf(region) }, is)).toBeGreaterThan(0)
      await expectExactly('topups', { region }, is)
    }
  })

  test('by operator and country', async () => {
    const isVodafone = ({ brandName }: Offer) => /\bvodafone/i.test(brandName)
    expect(await expectExactly('topups', { operator: 'vodafone' }, isVodafone)).toBeGreaterThan(0)
    const isEgyptian = (offer: Offer) => offer.country === 'EG'
    expect(await expectExactly('topups', { country: 'eg' }, isEgyptian)).toBeGreaterThan(0)
    await expectExactly(
      'topups',
      { operator: 'vodafone', country: 'EG' },
      (offer) => isVodafone(offer) && isEgyptian(offer),
    )
  })
})

describe('esims, with both parameter sets in force', () => {
  test('by country: single-country plans, or with regional=true plans that cover it', async () => {
    const countries = new Set((all['esims'] ?? []).flatMap(({ country }) => country ?? []))
    for (const country of [...countries].filter((_, at) => at % 4 === 0)) {
      await expectExactly('esims', { country }, (offer) => offer.country === country)
      await expectExactly(
        'esims',
        { country, regional: 'true' },
        (offer) => isRegional(offer) && covers(offer, country),
      )
    }
  })

  test('by covers: every code, on plans of one and of many countries', async () => {
    const one = await expectExactly('esims', { covers: 'FR' }, (offer) => covers(offer, 'FR'))
    const two = await expectExactly(
      'esims',
      { covers: 'fr, de' },
      (offer) => covers(offer, 'FR') && covers(offer, 'DE'),
    )
    expect(one).toBeGreaterThan(two)
    expect(two).toBeGreaterThan(0)
    await expectExactly(
      'esims',
      { covers: 'FR', regional: 'true' },
      (offer) => isRegional(offer) && covers(offer, 'FR'),
    )
  })

  test('by regions, and by region as a slug or a name', async () => {
    for (const region of regions) {
      const is = (offer: Offer) => offer.regions.includes(region)
      await expectExactly('esims', { regions: region }, is)
      await expectExactly('esims', { region: slugOf(region) }, is)
      await expectExactly('esims', { region, regions: slugOf(region) }, is)
      if (singleCountryRegions.includes(region)) continue
      await expectExactly('esims', { region, regional: 'true' }, (o) => is(o) && isRegional(o))
    }
  })

  test('by regional, duration and text', async () => {
    expect(await expectExactly('esims', { regional: 'true' }, isRegional)).toBeGreaterThan(0)
    await expectExactly('esims', { regional: 'false' }, () => true)
    const durations = new Set(
      (all['esims'] ?? []).flatMap(({ durationDays }) => durationDays ?? []),
    )
    expect(durations.size).toBeGreaterThan(1)
    for (const duration of durations) {
      await expectExactly('esims', { duration: String(duration) }, (offer) => {
        return offer.durationDays === duration
      })
    }
    const { body } = await call('/api/catalog/esims/offers?q=france&limit=100')
    const french = (all['esims'] ?? []).filter(({ country }) => country === 'FR')
    expect(idsOf(body.items)).toEqual(expect.arrayContaining(idsOf(french)))
  })
})
