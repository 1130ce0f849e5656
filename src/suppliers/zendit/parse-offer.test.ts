import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { VoucherOffer } from '../../catalog/kinds/voucher.ts'
import { rejectionReasons } from './client.ts'
import { parseOffer } from './parse-offer.ts'
import { rawEsim, rawTopup, rawVoucher } from './sample-offers.fixture.ts'

const usd = { currency: 'USD', currencyDivisor: 100 }

it('takes a voucher over', () => {
  expect(parseOffer(rawVoucher(), 'voucher')).toEqual({
    kind: 'voucher',
    id: 'APPLE_US_10_EGIFT_WHS',
    source: { supplier: 'zendit', product: 'APPLE_US_10_EGIFT_WHS' },
    brand: 'APPLE',
    brandName: 'Apple',
    country: 'US',
    regions: ['North America'],
    subTypes: ['Electronics'],
    productType: 'VOUCHER',
    shortNotes: 'Ten dollars',
    notes: 'Long notes',
    price: { type: 'FIXED', currency: 'USD', divisor: 100, fixed: 1000 },
    cost: { currency: 'USD', divisor: 100, min: 950, max: 950 },
    faceValue: { type: 'FIXED', currency: 'USD', divisor: 100, fixed: 1000 },
    requiredFields: ['recipient.firstName', 'recipient.lastName'],
  })
})

it('takes an open-value topup over, and leaves out what does not apply', () => {
  const topup = parseOffer(rawTopup(), 'topup')
  expect(topup).toMatchObject({
    kind: 'topup',
    country: 'GT',
    subTypes: ['voice'],
    price: { type: 'RANGE', currency: 'USD', divisor: 100, min: 700, max: 10000, increment: 100 },
    faceValue: { type: 'RANGE', currency: 'GTQ', divisor: 100, min: 5362, max: 76600 },
    allowance: {},
  })
  expect(Object.values((topup as { allowance: object }).allowance)).toEqual([])
})

it.each([
  ['Mobile Top Up', ['voice']],
  ['Mobile Bundle', ['bundle']],
  ['mobile data', ['data']],
  ['Something New', []],
])('publishes the topup sub-type %s as %j', (sent, published) => {
  expect(parseOffer(rawTopup({ subTypes: [sent] }), 'topup')).toMatchObject({
    subTypes: published,
  })
})

it.each<[string[], string[], string[] | undefined]>([
  [['Online Shopping'], ['Shopping'], ['Online Shopping']],
  [['Fuel'], ['General Merchandise'], ['Fuel']],
  [['Auto & Moto', 'Fuel'], ['General Merchandise'], ['Auto & Moto', 'Fuel']],
  [['Shopping', 'online shopping'], ['Shopping'], ['Shopping', 'online shopping']],
  [['shopping'], ['Shopping'], undefined],
  [['Dating', 'EGIFT'], ['Dating', 'EGIFT'], undefined],
  [[], ['General Merchandise'], undefined],
])('publishes the voucher sub-types %j as %j, filed under %j', (sent, published, filed) => {
  const { subTypes, categories } = parseOffer(
    rawVoucher({ subTypes: sent }),
    'voucher',
  ) as VoucherOffer
  expect({ subTypes, categories }).toEqual({ subTypes: published, categories: filed })
})

it.each([
  ['XKX', 'XK'],
  ['XK', 'XK'],
  ['UK', 'GB'],
  ['EL', 'GR'],
  ['cyp', 'CY'],
])('reads the country %s as %s', (country, alpha2) => {
  expect(parseOffer(rawVoucher({ country }), 'voucher')).toMatchObject({ country: alpha2 })
})

it('takes an eSIM plan over, in countries of two letters', () => {
  const plan = parseOffer(rawEsim({ dataUnlimited: true, voiceMinutes: 100 }), 'esim')
  expect(plan).toMatchObject({
    kind: 'esim',
    allowance: { dataGb: 10, dataUnlimited: true, durationDays: 30, voiceMinutes: 100 },
    coverage: [
      { country: 'FR', speeds: ['4G', '5G'] },
      { country: 'CY', speeds: ['4G'] },
    ],
  })
  expect(plan).not.toHaveProperty('country')
  expect(plan).not.toHaveProperty('faceValue')
})

it('covers the own country of a plan without roaming, and merges one named twice', () => {
  const alone = rawEsim({ country: 'ESP', roaming: [] })
  expect(parseOffer(alone, 'esim')).toMatchObject({
    country: 'ES',
    coverage: [{ country: 'ES', speeds: ['4G', '5G'] }],
  })
  const roaming = [
    { country: 'CY', dataSpeeds: ['3g'] },
    { country: 'CYP', dataSpeeds: ['4G', 'fast'] },
    { country: 'ATLANTIS', dataSpeeds: ['4G'] },
    'no object',
  ]
  expect(parseOffer(rawEsim({ roaming }), 'esim')).toMatchObject({
    coverage: [{ country: 'CY', speeds: ['3G', '4G'] }],
  })
})

it.each([
  ['not_an_object', 'text'],
  ['not_an_object', []],
  ['missing_offer_id', rawVoucher({ offerId: undefined })],
  ['missing_offer_id', rawVoucher({ offerId: '' })],
  ['bad_offer_id', rawVoucher({ offerId: 'A B' })],
  ['bad_offer_id', rawVoucher({ offerId: '../x' })],
  ['bad_offer_id', rawVoucher({ offerId: '.' })],
  ['bad_offer_id', rawVoucher({ offerId: '..' })],
  ['bad_offer_id', rawVoucher({ offerId: 'A'.repeat(101) })],
  ['disabled', rawVoucher({ enabled: false })],
  ['disabled', rawVoucher({ enabled: undefined })],
  ['wrong_product_type', rawVoucher({ productType: 'ESIM' })],
  ['no_brand', rawVoucher({ brand: ' ', brandName: '\u0000' })],
  ['no_country', rawVoucher({ country: '' })],
  ['unknown_country', rawVoucher({ country: 'XX' })],
  ['bad_required_fields', rawVoucher({ requiredFields: 'recipient.email' })],
  ['bad_required_fields', rawVoucher({ requiredFields: ['recipient.email', null] })],
  ['no_price', rawVoucher({ price: undefined })],
  ['no_price', rawVoucher({ price: usd })],
  ['unknown_price_type', rawVoucher({ priceType: 'AUCTION' })],
  ['bad_currency', rawVoucher({ price: { ...usd, currency: 'usd', fixed: 1 } })],
  ['bad_divisor', rawVoucher({ price: { currency: 'USD', currencyDivisor: 0, fixed: 1 } })],
  ['bad_divisor', rawVoucher({ price: { currency: 'USD', currencyDivisor: 12, fixed: 1 } })],
  ['price_not_whole', rawVoucher({ price: { ...usd, fixed: 10.5 } })],
  ['price_not_whole', rawVoucher({ price: { ...usd, fixed: '1000' } })],
  ['price_not_positive', rawVoucher({ price: { ...usd, fixed: 0 } })],
  ['price_not_positive', rawVoucher({ price: { ...usd, fixed: -5 } })],
  ['price_too_high', rawVoucher({ price: { ...usd, fixed: 1e11 } })],
  ['unreadable_cost', rawVoucher({ cost: undefined })],
  ['unreadable_cost', rawVoucher({ cost: 9.5 })],
  ['unreadable_cost', rawVoucher({ cost: { fixed: 950 } })],
  ['unreadable_cost', rawVoucher({ cost: { ...usd, fixed: 0 } })],
  ['unreadable_cost', rawVoucher({ cost: { ...usd, fixed: '950' } })],
  ['unreadable_cost', rawVoucher({ cost: { ...usd, min: 900, max: 950 } })],
  ['unreadable_cost', rawVoucher({ cost: { ...usd, fixed: 950, fee: '20' } })],
  ['unreadable_cost', rawVoucher({ cost: { ...usd, fixed: 950, feePct: -1 } })],
])('sets a voucher aside: %s', (reason, record) => {
  expect(parseOffer(record, 'voucher')).toBe(reason)
})

it.each([
  [{ min: 700 }],
  [{ min: 0, max: 100 }],
  [{ min: 200, max: 100 }],
  [{ min: 100, max: 200, increment: -1 }],
  [{ min: 100, max: 200, increment: 0.5 }],
])('sets aside the range %j', (range) => {
  const raw = rawTopup({ price: { ...usd, ...range } })
  expect(parseOffer(raw, 'topup')).toBe('bad_range')
})

it('sets aside a topup of no country and a plan that covers none', () => {
  expect(parseOffer(rawTopup({ country: null }), 'topup')).toBe('no_country')
  expect(parseOffer(rawEsim({ roaming: [] }), 'esim')).toBe('no_coverage')
})

it('takes every minor unit as a step where a range names none', () => {
  const raw = rawTopup({ price: { ...usd, min: 700, max: 900 } })
  expect(parseOffer(raw, 'topup')).toMatchObject({ price: { increment: 1 } })
})

it('reads a plain number as major units of the wallet currency', () => {
  const inDollars = rawVoucher({ price: 12.35 })
  expect(parseOffer(inDollars, 'voucher')).toMatchObject({
    price: { type: 'FIXED', currency: 'USD', divisor: 100, fixed: 1235 },
  })
  const inYen = rawVoucher({
    price: 1500,
    cost: { currency: 'JPY', currencyDivisor: 1, fixed: 1400 },
  })
  expect(parseOffer(inYen, 'voucher')).toMatchObject({
    price: { currency: 'JPY', divisor: 1, fixed: 1500 },
  })
  expect(parseOffer(rawVoucher({ price: 1.001 }), 'voucher')).toBe('price_not_whole')
})

it.each([
  ['JPY', 1],
  ['KWD', 1000],
])('keeps the divisor sent with %s', (currency, currencyDivisor) => {
  const price = { currency, currencyDivisor, fixed: 1500 }
  expect(parseOffer(rawVoucher({ price }), 'voucher')).toMatchObject({
    price: { currency, divisor: currencyDivisor, fixed: 1500 },
  })
})

it.each([
  [{ fixed: 950 }, 950],
  [{ fixed: 990, fee: 20 }, 1010],
  [{ fixed: 1000, fee: 5, feePct: 2.5 }, 1030],
  [{ fixed: 999, feePct: 1.1 }, 1010],
  [{ fixed: 100, feePct: 10 }, 110],
])('adds the fees to the cost: %j is %i', (cost, landed) => {
  const raw = rawVoucher({ cost: { ...usd, ...cost } })
  expect(parseOffer(raw, 'voucher')).toMatchObject({ cost: { min: landed, max: landed } })
})

it('has the cost of a range at both ends, in its own currency', () => {
  const cost = { currency: 'EUR', currencyDivisor: 100, min: 690, max: 9_900, fee: 50, feePct: 1 }
  expect(parseOffer(rawTopup({ cost }), 'topup')).toMatchObject({
    cost: { currency: 'EUR', divisor: 100, min: 747, max: 10_049 },
  })
})

it('cleans text, bounds it, and keeps an unpublished word of the supplier', () => {
  const offer = parseOffer(
    rawVoucher({
      brandName: '  App\u0000le\n\u202eStore ',
      notes: 'first\nsecond\u0007',
      shortNotes: `${'x'.repeat(499)}😀`,
      subTypes: ['food & beverage', 'Auto & Moto', '', 7],
      regions: ['north america'],
    }),
    'voucher',
  )
  expect(offer).toMatchObject({
    brandName: 'App le Store',
    notes: 'first\nsecond',
    shortNotes: `${'x'.repeat(499)}\ufffd`,
    subTypes: ['Food & Beverage', 'General Merchandise'],
    categories: ['Food & Beverage', 'Auto & Moto'],
    regions: ['North America'],
  })
})

it('never throws, whatever a record holds', () => {
  const keys = fc.constantFrom(...Object.keys(rawEsim()))
  const record = fc.dictionary(keys, fc.jsonValue())
  fc.assert(
    fc.property(record, fc.constantFrom('voucher', 'topup', 'esim'), (changes, kind) => {
      const base = { voucher: rawVoucher, topup: rawTopup, esim: rawEsim }[kind]
      const parsed = parseOffer(base(changes), kind)
      const isRejected = typeof parsed === 'string'
      expect(isRejected ? rejectionReasons.includes(parsed) : parsed.kind === kind).toBe(true)
    }),
  )
})
