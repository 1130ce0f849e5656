import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rejectionReasons } from './client.ts'
import { parseOffer } from './parse-offer.ts'
import { rawEsim, rawTopup, rawVoucher } from './sample-offers.fixture.ts'

const usd = { currency: 'USD', currencyDivisor: 100 }
const raw = { voucher: rawVoucher, topup: rawTopup, esim: rawEsim }
type Kind = keyof typeof raw

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

it('leaves out of a topup what does not apply', () => {
  const offer = parseOffer(rawTopup(), 'topup')
  expect(Object.values((offer as { allowance: object }).allowance)).toEqual([])
})

it('leaves out of a plan its country and face value', () => {
  const plan = parseOffer(rawEsim(), 'esim')
  expect(plan).not.toHaveProperty('country')
  expect(plan).not.toHaveProperty('faceValue')
})

it.each<[Kind, Record<string, unknown>, object]>([
  [
    'topup',
    {},
    {
      kind: 'topup',
      country: 'GT',
      subTypes: ['voice'],
      price: { type: 'RANGE', currency: 'USD', divisor: 100, min: 700, max: 10000, increment: 100 },
      faceValue: { type: 'RANGE', currency: 'GTQ', divisor: 100, min: 5362, max: 76600 },
    },
  ],
  [
    'esim',
    { dataUnlimited: true, voiceMinutes: 100 },
    {
      kind: 'esim',
      allowance: { dataGb: 10, dataUnlimited: true, durationDays: 30, voiceMinutes: 100 },
      coverage: [
        { country: 'FR', speeds: ['4G', '5G'] },
        { country: 'CY', speeds: ['4G'] },
      ],
    },
  ],
  ['topup', { subTypes: ['Mobile Bundle'] }, { subTypes: ['bundle'] }],
  ['topup', { subTypes: ['mobile data'] }, { subTypes: ['data'] }],
  ['topup', { subTypes: ['Something New'] }, { subTypes: [] }],
  ['voucher', { country: 'XKX' }, { country: 'XK' }],
  ['voucher', { country: 'XK' }, { country: 'XK' }],
  ['voucher', { country: 'UK' }, { country: 'GB' }],
  ['voucher', { country: 'EL' }, { country: 'GR' }],
  ['voucher', { country: 'cyp' }, { country: 'CY' }],
  // Countries that are not codes of ISO 3166-1 are left out of a plan, and the plan is still sold.
  ['esim', { country: 'NCY' }, { coverage: [{ country: 'FR' }, { country: 'CY' }] }],
  ['esim', { country: 'NCY', roaming: [{ country: 'NCY' }] }, { coverage: [] }],
  // A range that names no step has steps of one minor unit.
  ['topup', { price: { ...usd, min: 700, max: 900 } }, { price: { increment: 1 } }],
  // A plain number is in major units of the wallet currency.
  ['voucher', { price: 12.35 }, { price: { currency: 'USD', divisor: 100, fixed: 1235 } }],
  [
    'voucher',
    { price: 1500, cost: { currency: 'JPY', currencyDivisor: 1, fixed: 1400 } },
    { price: { currency: 'JPY', divisor: 1, fixed: 1500 } },
  ],
  [
    'voucher',
    { price: { currency: 'KWD', currencyDivisor: 1000, fixed: 1500 } },
    { price: { currency: 'KWD', divisor: 1000, fixed: 1500 } },
  ],
  // A fixed price has its fee in it; an open one has it besides the value that a buyer chooses.
  ['voucher', { price: { ...usd, fixed: 1000, fee: 75 } }, { price: { fixed: 1075 } }],
  [
    'topup',
    { price: { ...usd, min: 700, max: 900, fee: 75 } },
    { price: { min: 700, max: 900, fee: 75 } },
  ],
  // The cost has its fees in it.
  ['voucher', { cost: { ...usd, fixed: 990, fee: 20 } }, { cost: { min: 1010, max: 1010 } }],
  ['voucher', { cost: { ...usd, fixed: 1000, fee: 5, feePct: 2.5 } }, { cost: { min: 1030 } }],
  ['voucher', { cost: { ...usd, fixed: 999, feePct: 1.1 } }, { cost: { min: 1010, max: 1010 } }],
  ['voucher', { cost: { ...usd, fixed: 100, feePct: 10 } }, { cost: { min: 110, max: 110 } }],
  [
    'topup',
    { cost: { currency: 'EUR', currencyDivisor: 100, min: 690, max: 9_900, fee: 50, feePct: 1 } },
    { cost: { currency: 'EUR', divisor: 100, min: 747, max: 10_049 } },
  ],
])('takes over a %s with %j: %j', (kind, changes, expected) => {
  expect(parseOffer(raw[kind](changes), kind)).toMatchObject(expected)
})

it.each<[string[], string[], string[] | undefined]>([
  [['Online Shopping'], ['Shopping'], ['Online Shopping']],
  [['Auto & Moto', 'Fuel'], ['General Merchandise'], ['Auto & Moto', 'Fuel']],
  [['Shopping', 'online shopping'], ['Shopping'], ['Shopping', 'online shopping']],
  [['shopping'], ['Shopping'], undefined],
  [['Dating', 'EGIFT'], ['Dating', 'EGIFT'], undefined],
  [[], ['General Merchandise'], undefined],
])('publishes the voucher sub-types %j as %j, filed under %j', (sent, subTypes, categories) => {
  const offer = parseOffer(rawVoucher({ subTypes: sent }), 'voucher')
  expect({ categories: undefined, ...(offer as object) }).toMatchObject({ subTypes, categories })
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

it.each<[string, Kind, Record<string, unknown>]>([
  ['missing_offer_id', 'voucher', { offerId: undefined }],
  ['missing_offer_id', 'voucher', { offerId: '' }],
  ['bad_offer_id', 'voucher', { offerId: 'A B' }],
  ['bad_offer_id', 'voucher', { offerId: '../x' }],
  ['bad_offer_id', 'voucher', { offerId: '.' }],
  ['bad_offer_id', 'voucher', { offerId: '..' }],
  ['bad_offer_id', 'voucher', { offerId: 'A'.repeat(101) }],
  ['disabled', 'voucher', { enabled: false }],
  ['disabled', 'voucher', { enabled: undefined }],
  ['wrong_product_type', 'voucher', { productType: 'ESIM' }],
  ['no_brand', 'voucher', { brand: ' ', brandName: '\u0000' }],
  ['no_country', 'voucher', { country: '' }],
  ['no_country', 'topup', { country: null }],
  ['unknown_country', 'voucher', { country: 'XX' }],
  ['unknown_country', 'topup', { country: 'XX' }],
  ['no_coverage', 'esim', { roaming: [] }],
  ['bad_required_fields', 'voucher', { requiredFields: 'recipient.email' }],
  ['bad_required_fields', 'voucher', { requiredFields: ['recipient.email', null] }],
  ['no_price', 'voucher', { price: undefined }],
  ['no_price', 'voucher', { price: usd }],
  ['unknown_price_type', 'voucher', { priceType: 'AUCTION' }],
  ['bad_currency', 'voucher', { price: { ...usd, currency: 'usd', fixed: 1 } }],
  ['bad_divisor', 'voucher', { price: { ...usd, currencyDivisor: 0, fixed: 1 } }],
  ['bad_divisor', 'voucher', { price: { ...usd, currencyDivisor: 12, fixed: 1 } }],
  ['price_not_whole', 'voucher', { price: { ...usd, fixed: 10.5 } }],
  ['price_not_whole', 'voucher', { price: { ...usd, fixed: '1000' } }],
  ['price_not_whole', 'voucher', { price: 1.001 }],
  ['price_not_positive', 'voucher', { price: { ...usd, fixed: 0 } }],
  ['price_not_positive', 'voucher', { price: { ...usd, fixed: -5 } }],
  ['price_too_high', 'voucher', { price: { ...usd, fixed: 1e11 } }],
  ['bad_range', 'topup', { price: { ...usd, min: 700 } }],
  ['bad_range', 'topup', { price: { ...usd, min: 0, max: 100 } }],
  ['bad_range', 'topup', { price: { ...usd, min: 200, max: 100 } }],
  ['bad_range', 'topup', { price: { ...usd, min: 100, max: 200, increment: -1 } }],
  ['bad_range', 'topup', { price: { ...usd, min: 100, max: 200, increment: 0.5 } }],
  ['bad_fee', 'voucher', { price: { ...usd, fixed: 1000, fee: -75 } }],
  ['bad_fee', 'voucher', { price: { ...usd, fixed: 1000, fee: 7.5 } }],
  ['unreadable_cost', 'voucher', { cost: undefined }],
  ['unreadable_cost', 'voucher', { cost: 9.5 }],
  ['unreadable_cost', 'voucher', { cost: { fixed: 950 } }],
  ['unreadable_cost', 'voucher', { cost: { ...usd, fixed: 0 } }],
  ['unreadable_cost', 'voucher', { cost: { ...usd, fixed: '950' } }],
  ['unreadable_cost', 'voucher', { cost: { ...usd, min: 900, max: 950 } }],
  ['unreadable_cost', 'voucher', { cost: { ...usd, fixed: 950, fee: '20' } }],
  ['unreadable_cost', 'voucher', { cost: { ...usd, fixed: 950, feePct: -1 } }],
])('sets aside as %s a %s with %j', (reason, kind, changes) => {
  expect(parseOffer(raw[kind](changes), kind)).toBe(reason)
})

it('sets aside what is no object', () => {
  for (const record of ['text', []]) expect(parseOffer(record, 'voucher')).toBe('not_an_object')
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
      const parsed = parseOffer(raw[kind](changes), kind)
      const isRejected = typeof parsed === 'string'
      expect(isRejected ? rejectionReasons.includes(parsed) : parsed.kind === kind).toBe(true)
    }),
  )
})
