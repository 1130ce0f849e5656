import { expect, test } from 'vitest'
import { basisOf } from '../../../test/fixtures/catalog.ts'
import {
  fixed,
  fixtureNow,
  fixturePricing,
  shopOffers,
  topup,
  voucher,
} from '../../../test/fixtures/offers.ts'
import { kinds } from '../good.ts'
import type { Offer } from '../offer.ts'
import { lowestCharge } from '../pricing.ts'
import { type Basis, packCatalog } from './build-catalog.ts'

const basis: Basis = basisOf(fixturePricing())
const stale: Basis = { ...basis, now: new Date(fixtureNow.getTime() + 30 * 24 * 3_600_000) }

function packed(offers: readonly Offer[], on: Basis = basis) {
  const rows = offers.map((offer) => [offer, JSON.stringify(offer)] as const)
  return packCatalog(rows, on, ({ id }) => ({ discovery: { id }, beyond: {} }))
}

const first = voucher('A', { brandName: 'One', requiredFields: [] })
const second = voucher('B', { brandName: 'Two', requiredFields: [] })
const inEuro = voucher('C', { price: fixed(1000, 'EUR'), requiredFields: [] })
const inAddress = voucher('D', { requiredFields: ['recipient.address.street'] })

test('the version is of what is listed, its order and what of it is sold, and of nothing else', () => {
  const { version } = packed([first, second, inEuro])
  expect(packed([inEuro, second, first]).version).toBe(version)
  // An earlier offer with the same id does not count.
  expect(packed([{ ...second, notes: 'old' }, first, second, inEuro]).version).toBe(version)
  expect(packed([first, second, inEuro], { ...basis, markupBps: 250 }).version).toBe(version)
  const others = [
    packed([first, second]),
    packed([first, second, { ...inEuro, notes: 'new' }]),
    packed([{ ...first, brandName: 'Zwo' }, second, inEuro]),
    packed([first, second, inEuro], stale),
    packed([]),
  ]
  expect(new Set([version, ...others.map((other) => other.version)]).size).toBe(others.length + 1)
})

test('new rates alone change the version when they change the order', () => {
  const dollars = voucher('E', { price: fixed(1100), requiredFields: [] })
  const at = (perUsd: Record<string, number>) =>
    packed([dollars, inEuro], {
      ...basis,
      rates: { asOf: fixtureNow, source: 'test', perUsd },
    }).version
  expect(at({ EUR: 0.99 })).toBe(at({ EUR: 0.95 }))
  expect(at({ EUR: 0.5 })).not.toBe(at({ EUR: 0.95 }))
})

test('of a kind that is sold whole, what is sold is the same object', () => {
  const all = packed([first, second, inEuro])
  expect(all.sold.voucher).toBe(all.listed.voucher)
  const some = packed([first, inAddress, inEuro])
  expect(some.sold.topup).toBe(some.listed.topup)
  expect([some.listed.voucher.rows.length, some.sold.voucher.rows.length]).toEqual([3, 2])
  // Rows are positions in the list as it was read, including what is left out.
  expect([...some.sold.voucher.rows].sort()).toEqual([0, 2])
})

test('the least that a purchase costs is that of what is sold, of each kind', () => {
  const { lowest, sold } = packed(shopOffers, { ...basis, markupBps: 300 })
  const pricing = fixturePricing({ markupBps: 300 })
  for (const kind of kinds) {
    const costs = Array.from(sold[kind].rows, (row) =>
      lowestCharge(shopOffers[row] as Offer, pricing),
    )
    const least = costs.reduce((one, other) => ((other ?? 0n) < (one ?? 0n) ? other : one))
    expect(lowest[kind], kind).toBe(least)
  }
  expect(packed([inAddress, topup('T', { price: fixed(700) })]).lowest).toEqual({
    topup: 7_000_000n,
  })
  expect(packed([]).lowest).toEqual({})
})

test('tells what was too old to sell by, which rates that are not there are not', () => {
  const fresh = { ...stale, times: { readAt: stale.now } }
  expect(packed([first]).stale).toBe('')
  expect(packed([first], fresh).stale).toBe('rates')
  expect(packed([first], { ...fresh, rates: undefined }).stale).toBe('')
  const times = { readAt: fresh.now, held: { 'zendit/voucher': fixtureNow } }
  const oldVouchers = { ...basis, now: fresh.now, times }
  expect(packed([first, topup('T')], { ...oldVouchers, rates: undefined })).toMatchObject({
    stale: 'zendit/voucher',
    lowest: { topup: 5_000_000n },
  })
})
