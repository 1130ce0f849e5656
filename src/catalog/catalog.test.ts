import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import {
  esim,
  fixed,
  fixtureNow,
  fixturePricing,
  open,
  shopOffers,
  topup,
  voucher,
} from '../../test/fixtures/offers.ts'
import { atOnce, inSlices } from '../lib/scheduling.ts'
import { fold } from '../lib/text.ts'
import { buildCatalog, featuredIn, findOffer, offerMeantBy } from './catalog.ts'
import { kinds, type Offer } from './offer.ts'
import { inUsd, lowestCharge } from './pricing.ts'
import type { SearchIndex } from './search/search-index.ts'
import { type Effect, noRules, sellingRulesOf } from './selling-rules.ts'

const pricing = fixturePricing()

const offersIn = (index: SearchIndex) => index.search({}, { offset: 0, limit: index.size }).offers
const idsIn = (index: SearchIndex) => offersIn(index).map(({ id }) => id)

describe('the published order', () => {
  const offer = fc
    .record({
      brandName: fc.constantFrom('Ama', 'ama', 'ÁMA', 'Ama Café', 'Zoo', 'Ämter', '', '😀', 'Ａ'),
      price: fc.oneof(
        fc.integer({ min: 1, max: 3 }).map((amount) => fixed(amount * 100)),
        fc.integer({ min: 1, max: 3 }).map((amount) => open(amount * 100, 900)),
        fc.integer({ min: 1, max: 3 }).map((amount) => fixed(amount * 90, 'EUR')),
        // Without a rate, so these are ordered by their ids.
        fc.integer({ min: 1, max: 3 }).map((amount) => fixed(amount, 'XYZ')),
      ),
    })
    .map((changes) => topup('', changes))
  const offers = fc
    .array(offer, { maxLength: 30 })
    .map((list) => list.map((one, at) => ({ ...one, id: `${(at * 7) % 31}` as Offer['id'] })))

  /** The order a second time, as a list of values to compare in turn. */
  function keyOf({ brandName, price, id }: Offer, rates = pricing.rates()): (string | number)[] {
    const least = price.type === 'FIXED' ? price.fixed : price.min
    return [fold(brandName), brandName, inUsd(least, price, rates) ?? Number.POSITIVE_INFINITY, id]
  }

  function compareKeys(one: readonly (string | number)[], other: readonly (string | number)[]) {
    const at = one.findIndex((value, place) => value !== other[place])
    return at === -1 ? 0 : (one[at] ?? 0) < (other[at] ?? 0) ? -1 : 1
  }

  test('is by brand name without case and accents, by price in USD, and by id', () => {
    fc.assert(
      fc.property(offers, (list) => {
        const sorted = list.toSorted((one, other) => compareKeys(keyOf(one), keyOf(other)))
        expect(idsIn(catalogOf(list, pricing).listed.topup)).toEqual(sorted.map(({ id }) => id))
        const turned = catalogOf(list.toReversed(), pricing).listed.topup
        expect(idsIn(turned)).toEqual(sorted.map(({ id }) => id))
      }),
      { numRuns: 300 },
    )
  })

  test('changes with the rates', () => {
    const list = [
      voucher('YEN', { price: fixed(1500, 'JPY', 1) }),
      voucher('EUR', { price: fixed(1000, 'EUR') }),
      voucher('USD', { price: fixed(1050) }),
      voucher('XYZ', { price: fixed(1, 'XYZ') }),
    ]
    const before = catalogOf(list, pricing)
    expect(idsIn(before.listed.voucher)).toEqual(['YEN', 'USD', 'EUR', 'XYZ'])
    const rates = { asOf: fixtureNow, source: 'test', perUsd: { EUR: 1, JPY: 100 } }
    const basis = { markupBps: 0, rules: noRules, rates, now: fixtureNow }
    const after = atOnce(buildCatalog(before, basis, before))
    expect(idsIn(after.listed.voucher)).toEqual(['EUR', 'USD', 'YEN', 'XYZ'])
    expect(idsIn(before.listed.voucher)).toEqual(['YEN', 'USD', 'EUR', 'XYZ'])
  })
})

test('only what has changed is built again', () => {
  const before = catalogOf(shopOffers, pricing)
  const basis = { markupBps: 0, rules: noRules, rates: pricing.rates(), now: fixtureNow }
  const [first, ...rest] = shopOffers
  const changed = { ...before, offers: [{ ...first, price: fixed(2501) } as Offer, ...rest] }
  const after = atOnce(buildCatalog(changed, basis, before))
  for (const kind of kinds) {
    const isSame = after.kinds[kind].stock === before.kinds[kind].stock
    expect(isSame, kind).toBe(kind !== first?.kind)
  }
  expect(after.ids.find(first?.id ?? '')?.price).toEqual(fixed(2501))
})

describe('by the rules in force', () => {
  const inForce = (type: 'brand' | 'everything', effect: Effect) => {
    const scope = { type, key: type === 'brand' ? 'AMAZON' : '' }
    const rules = sellingRulesOf([{ id: 1, scope, effect }])
    return catalogOf(shopOffers, fixturePricing({ rules: () => rules }))
  }
  const cards = ['AMZ_US_OPEN', 'AMZ_US_25']
  const among = (index: SearchIndex) => idsIn(index).filter((id) => cards.includes(id))

  test('what is hidden is not found, not even by its id', () => {
    const { ids, listed, sold } = inForce('brand', { type: 'hide' })
    expect([among(listed.voucher), among(sold.voucher)]).toEqual([[], []])
    expect(cards.flatMap((id) => [ids.find(id), ids.findLike(id)])).toEqual(
      Array(4).fill(undefined),
    )
    expect(ids.find('AMZ_DE_10')).toBeDefined()
    expect(() => findOffer({ ids, sold }, 'voucher', 'AMZ_US_25', 'offerId')).toThrow('There is no')
  })

  test('what is paused is listed, but not sold', () => {
    const { ids, listed, sold } = inForce('brand', { type: 'pause' })
    expect([among(listed.voucher), among(sold.voucher)]).toEqual([cards, []])
    expect(ids.find('AMZ_US_25')).toBeDefined()
  })

  test('a pause of everything leaves the shelves as they are', () => {
    const { sold } = inForce('everything', { type: 'pause' })
    expect(among(sold.voucher)).toEqual(cards)
  })

  test('an offer has another name wherever it is found, and its stock is kept after that', () => {
    const rules = sellingRulesOf([
      {
        id: 1,
        scope: { type: 'offer', key: 'AMZ_US_25' },
        effect: { type: 'name', text: 'Bookshop' },
      },
    ])
    const plain = catalogOf(shopOffers, pricing)
    const basis = { markupBps: 0, rules, rates: pricing.rates(), now: fixtureNow }
    const renamed = atOnce(buildCatalog(plain, basis, plain))
    expect(renamed.ids.find('AMZ_US_25')?.brandName).toBe('Bookshop')
    const found = renamed.sold.voucher.search({ text: 'bookshop' }, { offset: 0, limit: 9 })
    expect(found.offers.map(({ id }) => id)).toEqual(['AMZ_US_25'])
    expect(renamed.offers).toBe(plain.offers)
    const later = atOnce(buildCatalog(renamed, { ...basis, markupBps: 1 }, renamed))
    expect(later.kinds.voucher.stock).toBe(renamed.kinds.voucher.stock)
    const back = atOnce(buildCatalog(later, { ...basis, rules: noRules }, later))
    expect(back.ids.find('AMZ_US_25')).toBe(shopOffers[0])
    expect(idsIn(back.sold.voucher)).toEqual(idsIn(plain.sold.voucher))
  })

  test('the newest featured ones come first, and no more than a few of each rule', () => {
    const feature = (id: number, type: 'offer' | 'brand', key: string) =>
      ({ id, scope: { type, key }, effect: { type: 'feature' } }) as const
    const rules = sellingRulesOf([
      feature(1, 'brand', 'AMAZON'),
      feature(2, 'offer', 'ESIM-EU-30D-5GB'),
      feature(3, 'brand', 'TIGO'),
    ])
    const featured = featuredIn(catalogOf(shopOffers, pricing), rules).map(({ id }) => id)
    expect(featured).toEqual(['TIGO_GT_5', 'ESIM-EU-30D-5GB', ...cards])
  })
})

test('an offer is found by its id, sold or not', () => {
  const { ids, sold, listed } = catalogOf(shopOffers, pricing)
  expect(sold.voucher.size).toBeLessThan(listed.voucher.size)
  expect(shopOffers.map(({ id }) => ids.find(id))).toEqual(shopOffers)
  expect([ids.find('NONE'), ids.find(''), ids.findLike('NONE')]).toEqual([
    undefined,
    undefined,
    undefined,
  ])
})

test.each([
  ['netflix_de-25', 'Netflix_DE-25'],
  ['NETFLIX-DE-25', 'Netflix_DE-25'],
  ['Netflix DE 25', 'Netflix_DE-25'],
  ['netflix-de_25', 'NETFLIX-DE_25'],
])('the offer that was meant by %s is %s', (text, id) => {
  const { ids } = catalogOf([voucher('Netflix_DE-25'), voucher('NETFLIX-DE_25')], pricing)
  expect(ids.findLike(text)?.id).toBe(id)
})

test('the least that a purchase costs is that of what is sold, of each kind', () => {
  const dear = fixturePricing({ markupBps: 300 })
  const { lowest, sold } = catalogOf(shopOffers, dear)
  for (const kind of kinds) {
    const costs = offersIn(sold[kind]).map((offer) => Number(lowestCharge(offer, dear)))
    expect(Number(lowest[kind]), kind).toBe(Math.min(...costs))
  }
  const unlisted = voucher('D', { requiredFields: ['recipient.nationalId'] })
  const some = catalogOf([unlisted, topup('T', { price: fixed(700) })], pricing)
  expect(some.lowest).toEqual({ topup: 7_000_000n })
})

test('building lets other work in between, and gives the same', async () => {
  const offers = Array.from({ length: 6_000 }, (_, at) =>
    topup(`T${at}`, { brandName: `Brand ${at % 700}`, notes: `${at}` }),
  )
  let turns = 0
  const turning = () => {
    turns += 1
    timer = setImmediate(turning)
  }
  let timer = setImmediate(turning)
  const basis = { markupBps: 0, rules: noRules, rates: undefined, now: fixtureNow }
  const snapshot = { offers, readAt: fixtureNow, rejected: {} }
  const catalog = await inSlices(buildCatalog(snapshot, basis))
  clearImmediate(timer)
  expect(turns).toBeGreaterThan(2)
  expect(idsIn(catalog.sold.topup)).toEqual(idsIn(catalogOf(offers, pricing).sold.topup))
})

const card = (country: string, value: number) =>
  voucher(`NETFLIX_${country}_${value}_EGIFT`, { country, brand: 'NETFLIX', brandName: 'Netflix' })

const catalog = catalogOf(
  [
    card('DE', 25),
    card('DE', 50),
    card('FR', 25),
    esim('ESIM-JP-30D-10GB', {
      coverage: [{ country: 'JP', speeds: ['4G'] }],
      allowance: { dataGb: 10, durationDays: 30 },
    }),
  ],
  fixturePricing(),
)

test.each([
  ['NETFLIX_DE_25', 'NETFLIX_DE_25_EGIFT'],
  ['netflix de 50 egift', 'NETFLIX_DE_50_EGIFT'],
  ['EGIFT_25_FR_NETFLIX', 'NETFLIX_FR_25_EGIFT'],
  ['NETFLX_DE_25_EGIFT', 'NETFLIX_DE_25_EGIFT'],
  ['ESIM-JP-10GB', 'ESIM-JP-30D-10GB'],
])('by %s the one offer was meant that has all of it', (text, id) => {
  expect(offerMeantBy(catalog, text)).toBe(id)
})

test.each([
  'NETFLIX',
  'NETFLIX_DE',
  'NETFLIX_IT_25_EGIFT',
  'NETFLIX_DE_26_EGIFT',
  'ESIM-JP-20GB',
  'NO-SUCH-OFFER',
  '',
  `NETFLIX_DE_25_${'X'.repeat(200)}`,
])('by %s none is proposed: several have it, or another value or country would be', (text) => {
  expect(offerMeantBy(catalog, text)).toBeUndefined()
})

test('an id in another case is found also beside one with other signs between its words', () => {
  const both = catalogOf([voucher('NETFLIX-DE_25'), voucher('NETFLIX_DE_25')], fixturePricing())
  expect(findOffer(both, 'voucher', 'netflix_de_25', 'offerId').id).toBe('NETFLIX_DE_25')
  expect(findOffer(both, 'voucher', 'netflix-de_25', 'offerId').id).toBe('NETFLIX-DE_25')
})
