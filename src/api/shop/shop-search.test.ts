import { describe, expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixed, fixturePricing, open, shopOffers, voucher } from '../../../test/fixtures/offers.ts'
import { readShopQuery, shopPageSize, shopSearch } from './shop-search.ts'

const many = Array.from({ length: 60 }, (_, at) =>
  voucher(`MANY_${at}`, {
    brand: 'MANY',
    brandName: 'Manycards',
    country: 'FR',
    regions: ['Western Europe'],
    price: fixed(100 * (at + 1)),
    faceValue: fixed(100 * (at + 1)),
  }),
)
const choose = voucher('CHOOSE_FR', {
  brand: 'MANY',
  brandName: 'Manycards',
  country: 'FR',
  price: open(500, 20_000),
  faceValue: open(500, 20_000),
})
const catalog = catalogOf([...shopOffers, ...many, choose], fixturePricing())

const read = (query: string) => readShopQuery(new URLSearchParams(query), catalog.sold)
const found = (query: string) => shopSearch(catalog, read(query).query)
const ids = (query: string) => found(query).offers.map(({ id }) => id)

describe('what was asked for', () => {
  test('is read field by field; what is empty or not ours was left open', () => {
    const { query, faults } = read('kind=topup&q=&country=gt&utm_source=mail&page=2')
    expect(faults.size).toBe(0)
    expect(query).toMatchObject({ kind: 'topup', country: 'GT', page: 2 })
    expect(query.q).toBeUndefined()
  })

  test.each([
    ['country=Germany', 'country', 'DE'],
    ['country=zz', 'country', undefined],
    ['kind=vouchr', 'kind', 'voucher'],
    ['min=$25', 'min', '25'],
    ['max=lots', 'max', undefined],
    ['min=50&max=10', 'max', '50'],
    [`q=${'x'.repeat(201)}`, 'q', undefined],
    [`q=${'x'.repeat(41)}`, 'q', undefined],
    [`q=${'x+'.repeat(25)}`, 'q', undefined],
    ['category=Shoping&kind=voucher', 'category', 'Shopping'],
    ['region=atlantis', 'region', undefined],
    ['amount=any', 'amount', undefined],
    ['sort=cheap', 'sort', undefined],
    ['page=0', 'page', undefined],
    ['page=-1', 'page', undefined],
  ] as const)('%s is told of %s, and the others hold', (text, field, didYouMean) => {
    const { query, faults } = read(`${text}&brand=++MANY+cards`)
    expect([...faults.keys()]).toEqual([field])
    expect(faults.get(field)?.didYouMean).toBe(didYouMean)
    expect(query.brand).toBe('many cards')
    expect(query[field]).toBeUndefined()
  })
})

describe('an answer', () => {
  test('is of the kind that has something, when nobody chose one', () => {
    expect(found('q=claro').kind).toBe('topup')
    expect(found('q=claro').kindCounts).toMatchObject({ voucher: 0, esim: 0 })
    expect(found('').kind).toBe('voucher')
  })

  test('finds plans by every country where they work', () => {
    const { offers } = found('kind=esim&country=FR')
    expect(offers.length).toBeGreaterThan(0)
    for (const offer of offers) {
      const covers = offer.kind === 'esim' && offer.coverage.some(({ country }) => country === 'FR')
      expect(covers || offer.country === 'FR', offer.id).toBe(true)
    }
  })

  test('tells a chosen value from a fixed one', () => {
    expect(ids('country=FR&amount=open')).toEqual(['CHOOSE_FR'])
    expect(found('country=FR&amount=fixed').total).toBe(60)
  })

  test('comes in pages that neither repeat nor skip, in every order', () => {
    for (const sort of ['match', 'low', 'high']) {
      const pages = [1, 2, 3].flatMap((page) => ids(`country=FR&sort=${sort}&page=${page}`))
      expect(pages).toHaveLength(61)
      expect(new Set(pages).size).toBe(61)
    }
    expect(found('country=FR').pages).toBe(Math.ceil(61 / shopPageSize))
    expect(ids('country=FR&page=9')).toEqual([])
  })

  test('is ordered by value where that is asked for', () => {
    expect(ids('country=FR&sort=low&amount=fixed')[0]).toBe('MANY_0')
    expect(ids('country=FR&sort=high&amount=fixed')[0]).toBe('MANY_59')
  })

  test('has the best match of words first, also among chosen values', () => {
    expect(ids('kind=voucher&q=amazon')[0]).toMatch(/^AMZ/)
    expect(ids('kind=voucher&q=amazon&amount=open')).toEqual(['AMZ_US_OPEN'])
  })
})

describe('a facet', () => {
  test('counts what switching to its value finds, with all other fields as they are', () => {
    const { facets } = found('kind=voucher&country=US&category=Shopping')
    expect(facets.categories.map(({ value }) => value)).toContain('Restaurant')
    for (const { value, offers } of facets.categories) {
      const category = encodeURIComponent(value)
      expect(found(`kind=voucher&country=US&category=${category}`).total, value).toBe(offers)
    }
  })

  test('counts likewise the bounds of a value, and whether it is chosen', () => {
    for (const { value, offers } of found('country=FR').facets.bands) {
      const bounds = `min=${value.min}${value.max === undefined ? '' : `&max=${value.max}`}`
      expect(found(`country=FR&${bounds}`).total, bounds).toBe(offers)
    }
    for (const { value, offers } of found('country=FR').facets.amounts) {
      expect(found(`country=FR&amount=${value}`).total, value).toBe(offers)
    }
  })
})

test('words find what they find over the APIs, and say how they were understood', () => {
  const { kind, offers, understood, leftOut } = found('q=please+manycards+for+my+sister+in+france')
  expect(kind).toBe('voucher')
  expect(offers[0]?.brandName).toBe('Manycards')
  expect(understood.map(({ part, brand, without }) => [part.type, brand, without])).toEqual([
    ['brand', 'Manycards', 'please for my sister in france'],
    ['country', undefined, 'please manycards for my sister in'],
  ])
  expect(leftOut).toEqual(['sister'])
})

test('the kind that was chosen stays, and the others count what the words find there', () => {
  expect(found('kind=voucher&q=claro').total).toBe(0)
  expect(found('kind=voucher&q=claro').kindCounts.topup).toBeGreaterThan(0)
})
