import { beforeAll, describe, expect, test } from 'vitest'
import {
  coarseRegions,
  topupRegions,
  topupSubTypes,
  voucherSubTypes,
} from '../../src/catalog/lists.ts'
import { allItems, callerFor } from './reading.ts'
import { useStore } from './store.ts'

interface Offer {
  readonly offerId: string
  readonly brand: string
  readonly brandName?: string
  readonly country?: string
  readonly regions: readonly string[]
  readonly subTypes: readonly string[]
  readonly shortNotes?: string
  readonly price: { readonly currency: string; readonly fixed?: number; readonly min?: number }
}

const store = useStore({ offers: 3_000 })
const call = callerFor(store)
/** Everything that is sold, in the published order: what each answer is compared with. */
const all: Record<'vouchers' | 'topups' | 'esims', readonly Offer[]> = {
  vouchers: [],
  topups: [],
  esims: [],
}
type Family = keyof typeof all

beforeAll(async () => {
  for (const family of Object.keys(all) as Family[]) {
    all[family] = (await allItems(call, `/ai/${family}`, 50)) as unknown as Offer[]
  }
})

const idsOf = (offers: readonly Offer[]) => offers.map(({ offerId }) => offerId)

/** Asks, and expects exactly the offers that the test is true for, in the published order. */
async function expectExactly(
  family: Family,
  query: Record<string, string>,
  isFound: (offer: Offer) => boolean,
): Promise<number> {
  const expected = all[family].filter(isFound)
  const { status, body } = await call(`/ai/${family}?${new URLSearchParams(query)}&limit=50`)
  expect(status, JSON.stringify(query)).toBe(200)
  expect(idsOf(body.items), JSON.stringify(query)).toEqual(idsOf(expected.slice(0, 50)))
  expect(body.total).toBe(expected.length)
  expect('hint' in body).toBe(expected.length === 0)
  return expected.length
}

const valuesOf = (family: Family, pick: (offer: Offer) => readonly string[]) =>
  [...new Set(all[family].flatMap(pick))].sort()
const countriesOf = (family: Family) =>
  valuesOf(family, ({ country }) => (country === undefined ? [] : [country]))

describe('pages', () => {
  test.each([
    ['vouchers', ''],
    ['vouchers', 'country=US'],
    ['vouchers', 'search=gift'],
    ['topups', ''],
    ['topups', 'region=Africa'],
    ['esims', ''],
    ['esims', 'q=days'],
  ] as const)('of %s?%s hold everything once, whatever the page size', async (family, query) => {
    const path = `/ai/${family}${query && `?${query}`}`
    const whole = idsOf((await allItems(call, path, 50)) as unknown as Offer[])
    expect(new Set(whole).size).toBe(whole.length)
    expect(whole.length).toBeGreaterThan(50)
    const small = idsOf((await allItems(call, path, 37)) as unknown as Offer[])
    expect(small).toEqual(whole)
  })

  test.each(['vouchers', 'topups', 'esims'] as const)('of %s come by name and price', (family) => {
    const keyOf = ({ price }: Offer) => price.fixed ?? price.min ?? 0
    const offers = all[family].filter(
      ({ brandName, price }) => brandName !== undefined && price.currency === 'USD',
    )
    for (const [at, offer] of offers.entries()) {
      const next = offers[at + 1]
      if (next?.brandName !== offer.brandName) continue
      expect(keyOf(next ?? offer), `${offer.offerId}, ${next?.offerId}`).toBeGreaterThanOrEqual(
        keyOf(offer),
      )
    }
  })

  test('have 20 offers unless asked otherwise, and none past the end', async () => {
    for (const family of ['vouchers', 'topups', 'esims']) {
      const { body } = await call(`/ai/${family}`)
      expect([body.limit, body.offset, body.items.length]).toEqual([20, 0, 20])
      const past = await call(`/ai/${family}?offset=${body.total}`)
      expect(past.body).toMatchObject({ total: body.total, offset: body.total, items: [] })
      expect(past.body).not.toHaveProperty('hint')
    }
  })
})

describe('country', () => {
  test.each(['vouchers', 'topups'] as const)('of %s, each one, in any case', async (family) => {
    const countries = countriesOf(family)
    expect(countries.length).toBeGreaterThan(20)
    for (const country of countries) {
      await expectExactly(family, { country }, (offer) => offer.country === country)
    }
    await expectExactly(family, { country: 'us' }, (offer) => offer.country === 'US')
    await expectExactly(family, { country: 'uS' }, (offer) => offer.country === 'US')
  })

  test('of esims alone means plans for that country only', async () => {
    for (const country of countriesOf('esims')) {
      await expectExactly('esims', { country }, (offer) => offer.country === country)
    }
  })
})

describe('brand', () => {
  test.each(['vouchers', 'topups', 'esims'] as const)('of %s, whole names', async (family) => {
    const brands = valuesOf(family, ({ brand }) => [brand]).filter((_, at) => at % 5 === 0)
    for (const brand of brands) {
      const { body } = await call(`/ai/${family}?brand=${encodeURIComponent(brand)}&limit=50`)
      const own = all[family].filter((offer) => offer.brand === brand)
      expect(idsOf(body.items), brand).toEqual(expect.arrayContaining(idsOf(own.slice(0, 50))))
      expect(body.total).toBeGreaterThanOrEqual(own.length)
    }
  })

  test('begins words of the name, without case and accents, and nothing inside a word', async () => {
    const isAmazon = ({ brandName = '' }: Offer) => /^amazon/i.test(brandName)
    for (const brand of ['amazon', 'AMAZON', 'Amàzon', 'amaz']) {
      expect(await expectExactly('vouchers', { brand }, isAmazon)).toBeGreaterThan(0)
    }
    expect(await expectExactly('vouchers', { brand: 'mazon' }, () => false)).toBe(0)
    await expectExactly('vouchers', { brand: 'play goo' }, ({ brandName }) =>
      /^Google Play$/i.test(brandName ?? ''),
    )
  })
})

describe('lists', () => {
  test('every published sub-type of vouchers finds something', async () => {
    for (const subType of voucherSubTypes) {
      const found = await expectExactly('vouchers', { subType }, ({ subTypes }) =>
        subTypes.includes(subType),
      )
      expect(found, subType).toBeGreaterThan(0)
      await expectExactly('vouchers', { subType: subType.toLowerCase() }, ({ subTypes }) =>
        subTypes.includes(subType),
      )
    }
  })

  test('every published region and sub-type of topups finds something', async () => {
    for (const region of topupRegions) {
      const found = await expectExactly('topups', { region: region.toUpperCase() }, (offer) =>
        offer.regions.includes(region),
      )
      expect(found, region).toBeGreaterThan(0)
    }
    for (const subType of topupSubTypes) {
      const found = await expectExactly('topups', { subType }, (offer) =>
        offer.subTypes.includes(subType),
      )
      expect(found, subType).toBeGreaterThan(0)
    }
  })

  test('every published region of eSIMs means plans for many countries', async () => {
    for (const [name, regions] of Object.entries(coarseRegions)) {
      const isThere = (offer: Offer) =>
        offer.country === undefined &&
        offer.regions.some((region) => (regions as readonly string[]).includes(region))
      expect(await expectExactly('esims', { regions: name }, isThere), name).toBeGreaterThan(0)
    }
  })

  test('a country beside a region means plans of the region that cover it', async () => {
    const { body } = await call('/ai/esims?regions=Europe&country=FR&limit=50')
    expect(body.total).toBeGreaterThan(0)
    for (const { offerId } of body.items) {
      const detail = await call(`/api/catalog/esims/offers/${offerId}`)
      expect(detail.body.country).toBeUndefined()
      const covered = detail.body.coverage.map(({ country }: { country: string }) => country)
      expect(covered).toContain('FR')
    }
    const whole = await call('/ai/esims?regions=Europe')
    expect(body.total).toBeLessThanOrEqual(whole.body.total)
  })

  test('filters hold together', async () => {
    await expectExactly(
      'topups',
      { country: 'US', subType: 'voice', region: 'North America' },
      ({ country, subTypes }) => country === 'US' && subTypes.includes('voice'),
    )
    await expectExactly(
      'vouchers',
      { country: 'US', subType: 'Shopping', brand: 'walmart' },
      ({ country, subTypes, brandName }) =>
        country === 'US' && subTypes.includes('Shopping') && brandName === 'Walmart',
    )
  })
})

/** Without case and accents. */
function bare(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
}

describe('facets of topups', () => {
  test.each([
    {},
    { country: 'US' },
    { region: 'Africa' },
    { subType: 'data' },
    { country: 'US', subType: 'voice' },
    { country: 'DE', region: 'Africa' },
  ])('for %j hold what the other filters find', async (query) => {
    const { body } = await call(`/ai/topups?${new URLSearchParams(query)}&limit=1`)
    const asked: { country?: string; region?: string; subType?: string } = query
    const meets = (offer: Offer, but: string) =>
      (but === 'country' || !asked.country || offer.country === asked.country) &&
      (but === 'region' || !asked.region || offer.regions.includes(asked.region)) &&
      (but === 'subType' || !asked.subType || offer.subTypes.includes(asked.subType))
    const found = (but: string, pick: (offer: Offer) => readonly string[]) =>
      [...new Set(all.topups.filter((offer) => meets(offer, but)).flatMap(pick))].sort()
    const inOrder = (values: readonly string[]) => [...values].sort()
    expect(Object.keys(body.facets).sort()).toEqual(['brands', 'countries', 'regions', 'subTypes'])
    expect(inOrder(body.facets.countries)).toEqual(
      found('country', ({ country }) => (country ? [country] : [])),
    )
    expect(inOrder(body.facets.regions)).toEqual(found('region', ({ regions }) => regions))
    expect(inOrder(body.facets.subTypes)).toEqual(found('subType', ({ subTypes }) => subTypes))
    const offersOf = Map.groupBy(
      all.topups.filter((offer) => meets(offer, 'brand')),
      ({ brandName = '' }) => bare(brandName),
    )
    const brands = [...offersOf].sort(
      ([one, ones], [other, others]) => others.length - ones.length || (one < other ? -1 : 1),
    )
    expect(body.facets.brands.map(bare)).toEqual(brands.slice(0, 100).map(([name]) => name))
    expect(body.facetTotals).toEqual({ brands: brands.length })
  })
})
