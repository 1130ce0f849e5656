import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  cost,
  esim,
  fixed,
  fixtureNow,
  fixturePricing,
  open,
  topup,
  voucher,
} from '../../test/fixtures/offers.ts'
import { cents } from '../lib/money.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Offer } from './offer.ts'
import { withMarkup } from './open-price.ts'
import type { RateTable } from './ports.ts'
import { chargeFor, inUsd, listedCharge, lowestCharge, type Pricing, retailOf } from './pricing.ts'
import { type Effect, sellingRulesOf } from './selling-rules.ts'

const hour = 3_600_000
const usd = (amount: number) => voucher('V', { price: fixed(amount) })

function refusalOf(act: () => unknown): Refusal {
  try {
    act()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}

/** An exchange rate with six decimals, in millionths. */
const millionths = fc.integer({ min: 1_000, max: 2_000_000_000 })
const bps = fc.nat(10_000)
const minor = fc.integer({ min: 1, max: 100_000_000 })
const divisor = fc.constantFrom(1, 10, 100, 1_000)

describe('the markup', () => {
  test('is added in whole numbers and rounded up by less than one', () => {
    fc.assert(
      fc.property(minor, bps, (amount, markup) => {
        const exact = BigInt(amount) * BigInt(10_000 + markup)
        const charged = BigInt(withMarkup(amount, markup)) * 10_000n
        expect(charged >= exact).toBe(true)
        expect(charged - exact < 10_000n).toBe(true)
      }),
    )
  })

  test.each([
    [2_500, 0, 2_500],
    [2_500, 250, 2_563],
    [1, 1, 2],
    [1, 0, 1],
    [100, 10_000, 200],
  ])('on %s with %s basis points makes %s', (amount, markup, charged) => {
    expect(withMarkup(amount, markup)).toBe(charged)
  })
})

describe('a fixed price in dollars', () => {
  test('is never below the supplier’s price with the markup, and less than a cent above', () => {
    fc.assert(
      fc.property(minor, divisor, bps, (amount, divisor, markupBps) => {
        const offer = voucher('V', { price: fixed(amount, 'USD', divisor) })
        const charge = chargeFor(offer, undefined, fixturePricing({ markupBps }))
        const exact = BigInt(amount) * BigInt(10_000 + markupBps) * 1_000_000n
        const scale = BigInt(divisor) * 10_000n
        expect(charge * scale >= exact).toBe(true)
        expect((charge - 10_000n) * scale < exact).toBe(true)
        expect(charge % 10_000n).toBe(0n)
      }),
    )
  })

  test.each([
    [2_500, 100, 0, 25_000_000n],
    [1, 100, 0, 10_000n],
    [1, 1_000, 0, 10_000n],
    [25_001, 1_000, 0, 25_010_000n],
    [25, 1, 0, 25_000_000n],
    [999, 100, 100, 10_090_000n],
  ])('%s over %s with %s basis points is %s atomic', (amount, divisor, markupBps, atomic) => {
    const offer = voucher('V', { price: fixed(amount, 'USD', divisor) })
    expect(chargeFor(offer, undefined, fixturePricing({ markupBps }))).toBe(atomic)
  })

  test('is the lowest charge of its offer', () => {
    expect(lowestCharge(usd(2_500), fixturePricing({ markupBps: 100 }))).toBe(25_250_000n)
  })
})

describe('a fixed price in another currency', () => {
  const priced = (amount: number, divisor: number, millionth: number, markupBps: number) => {
    const table: RateTable = {
      asOf: fixturePricing().now(),
      source: 'fixture',
      perUsd: { EUR: millionth / 1e6 },
    }
    const offer = voucher('V', { price: fixed(amount, 'EUR', divisor) })
    return chargeFor(offer, undefined, fixturePricing({ markupBps, rates: () => table }))
  }

  test('is never below its cost at the rate of the table', () => {
    fc.assert(
      fc.property(minor, divisor, millionths, bps, (amount, divisor, millionth, markup) => {
        const charge = priced(amount, divisor, millionth, markup)
        const exact = BigInt(amount) * BigInt(10_000 + markup) * 10n ** 12n
        const scale = BigInt(divisor) * 10_000n * BigInt(millionth)
        expect(charge * scale >= exact).toBe(true)
        expect(charge % 10_000n).toBe(0n)
      }),
    )
  })

  test.each([
    [1_150, 100, 920_000, 12_500_000n],
    [1_000, 1, 150_000_000, 6_670_000n],
    [1_000, 1_000, 307_000, 3_260_000n],
  ])('%s over %s at %s millionths is %s atomic', (amount, divisor, millionth, atomic) => {
    expect(priced(amount, divisor, millionth, 0)).toBe(atomic)
  })

  test.each<[string, Partial<Pricing>]>([
    ['rate_missing', { rates: () => undefined }],
    ['rate_missing', { rates: () => ({ ...table(0), perUsd: { JPY: 150 } }) }],
    ['rate_stale', { rates: () => table(97 * hour) }],
  ])('is not sold without a good rate: %s', (reason, changes) => {
    const offer = voucher('V', { price: fixed(1_150, 'EUR') })
    const pricing = fixturePricing(changes)
    expect(retailOf(offer, pricing)).toMatchObject({ type: 'NOT_SOLD', code: reason })
    expect(lowestCharge(offer, pricing)).toBeUndefined()
    const refusal = refusalOf(() => chargeFor(offer, undefined, pricing))
    expect(refusal).toMatchObject({ code: 'offer_unavailable', details: { extra: { reason } } })
  })

  function table(oldMs: number): RateTable {
    const asOf = new Date(fixturePricing().now().getTime() - oldMs)
    return { asOf, source: 'fixture', perUsd: { EUR: 0.9 } }
  }
})

describe('nothing is asked below what the supplier charges', () => {
  const currencies = fc.constantFrom('USD', 'EUR', 'JPY')
  const rates = fc.record({ EUR: millionths, JPY: millionths })
  const money = fc.record({ currency: currencies, divisor })
  const range = fc.record({
    min: fc.integer({ min: 1, max: 5_000 }),
    steps: fc.nat(40),
    increment: fc.integer({ min: 1, max: 300 }),
    over: fc.nat(299),
  })
  const pricingAt = (at: { EUR: number; JPY: number }, markupBps: number) => {
    const perUsd = { EUR: at.EUR / 1e6, JPY: at.JPY / 1e6 }
    return fixturePricing({
      markupBps,
      rates: () => ({ asOf: fixtureNow, source: 'test', perUsd }),
    })
  }
  /** Whether `asked` atomic USDC cover a cost of `numerator / denominator` minor units. */
  const covers = (
    asked: bigint,
    [numerator, denominator]: readonly [bigint, bigint],
    { currency, divisor: parts }: { currency: string; divisor: number },
    at: Record<string, number>,
  ) => {
    const perUsd = currency === 'USD' ? 1_000_000n : BigInt(at[currency] as number)
    return asked * BigInt(parts) * perUsd * denominator >= numerator * 10n ** 12n
  }

  test('at a fixed price, whatever the currencies, rates and markup', () => {
    fc.assert(
      fc.property(
        money,
        minor,
        money,
        minor,
        rates,
        bps,
        (price, asks, paid, costs, at, markup) => {
          const offer = voucher('V', {
            price: fixed(asks, price.currency, price.divisor),
            cost: cost(costs, costs, paid.currency, paid.divisor),
          })
          const asked = chargeFor(offer, undefined, pricingAt(at, markup))
          expect(covers(asked, [BigInt(costs), 1n], paid, at)).toBe(true)
          expect(covers(asked, [BigInt(asks), 1n], price, at)).toBe(true)
          expect(lowestCharge(offer, pricingAt(at, markup))).toBe(asked)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('at any value of an open price, whether fees are fixed or in proportion', () => {
    fc.assert(
      fc.property(
        range,
        money,
        fc.nat(8_000),
        fc.nat(20_000),
        rates,
        bps,
        ({ min, steps, increment, over }, paid, least, more, at, markup) => {
          const max = min + steps * increment + (over % increment)
          const offer = voucher('OPEN', {
            price: open(min, max, increment),
            cost: cost(1 + least, 1 + least + more, paid.currency, paid.divisor),
          })
          const pricing = pricingAt(at, markup)
          const retail = retailOf(offer, pricing)
          expect(retail).toMatchObject({ type: 'RANGE', min, max: min + steps * increment })
          const [from, to] = [BigInt(1 + least), BigInt(1 + least + more)]
          expect(lowestCharge(offer, pricing)).toBe(chargeFor(offer, cents(min), pricing))
          for (let value = min; value <= max; value += increment) {
            const asked = chargeFor(offer, cents(value), pricing)
            const span = BigInt(max - min)
            const growing = [from * span + (to - from) * BigInt(value - min), span || 1n] as const
            expect(covers(asked, growing, paid, at)).toBe(true)
            expect(covers(asked, [to * BigInt(value), BigInt(max)], paid, at)).toBe(true)
            expect(asked >= BigInt(value) * 10_000n).toBe(true)
          }
        },
      ),
      { numRuns: 300 },
    )
  })

  test.each([
    ['more than the price in the same currency', fixed(1_000), cost(1_200), 12_000_000n],
    ['more than a price in yen', fixed(1_500, 'JPY', 1), cost(2_350), 23_500_000n],
    ['euros for a price in dollars', fixed(1_000), cost(950, 950, 'EUR'), 10_560_000n],
    ['less than the price', fixed(1_000), cost(950), 10_000_000n],
  ])('where it charges %s', (_, price, cost, asked) => {
    expect(chargeFor(voucher('V', { price, cost }), undefined, fixturePricing())).toBe(asked)
  })

  test('at the upper end of a range too', () => {
    const offer = voucher('OPEN', { price: open(500, 50_000), cost: cost(500, 60_000) })
    expect(chargeFor(offer, cents(50_000), fixturePricing())).toBe(600_000_000n)
    expect(chargeFor(offer, cents(500), fixturePricing())).toBe(6_000_000n)
  })

  test('or it is not sold, without a rate of what the supplier charges in', () => {
    const offer = voucher('V', { cost: cost(100, 100, 'KWD', 1_000) })
    expect(retailOf(offer, fixturePricing())).toMatchObject({ code: 'rate_missing' })
  })

  test.each([0, -1, 1e-9, Number.NaN, Number.POSITIVE_INFINITY, 1e12])(
    'a rate of %s is none, and stops no other offer',
    (rate) => {
      const pricing = fixturePricing({
        rates: () => ({ asOf: fixtureNow, source: 'test', perUsd: { EUR: rate } }),
      })
      const offer = voucher('V', { price: fixed(1_000, 'EUR') })
      expect(retailOf(offer, pricing)).toMatchObject({ code: 'rate_missing' })
      expect(retailOf(usd(100), pricing).type).toBe('FIXED')
    },
  )
})

test('a list that is too old is not sold by', () => {
  const day = 24 * hour
  const at = (age: number) => fixturePricing({ readAt: () => new Date(fixtureNow.getTime() - age) })
  expect(retailOf(usd(100), at(day)).type).toBe('FIXED')
  expect(retailOf(usd(100), at(day + 1))).toMatchObject({
    code: 'list_stale',
    reason: expect.stringContaining('2026-11-17T11:59:59.999Z'),
  })
})

test('an open eSIM plan is not sold, since the supplier takes no value for one', () => {
  const plan = esim('E', { price: open(500, 1_000) })
  expect(retailOf(plan, fixturePricing())).toMatchObject({ code: 'open_value_kind' })
})

describe('an open value', () => {
  const offer = voucher('OPEN', { price: open(500, 10_000, 250) })

  test('is charged with the markup, rounded up', () => {
    expect(chargeFor(offer, cents(1_250), fixturePricing({ markupBps: 333 }))).toBe(12_920_000n)
    expect(lowestCharge(offer, fixturePricing({ markupBps: 333 }))).toBe(5_170_000n)
  })

  test('costs the fee of the supplier besides, with the markup', () => {
    const withFee = voucher('FEE', { price: { ...open(500, 10_000, 250), fee: 75 } })
    const pricing = fixturePricing({ markupBps: 200 })
    const charges = [500, 1_250, 10_000].map((value) => chargeFor(withFee, cents(value), pricing))
    expect(charges).toEqual([5_870_000n, 13_520_000n, 102_770_000n])
    expect(retailOf(withFee, pricing)).toMatchObject({ lowest: 587, highest: 10_277 })
  })

  test('is taken exactly when it lies in the range and on the increment', () => {
    const range = fc.record({
      min: fc.integer({ min: 1, max: 500 }),
      steps: fc.nat(20),
      increment: fc.integer({ min: 1, max: 50 }),
    })
    fc.assert(
      fc.property(range, fc.nat(2_000), bps, ({ min, steps, increment }, value, markupBps) => {
        const price = open(min, min + steps * increment, increment)
        const values = Array.from({ length: steps + 1 }, (_, step) => min + step * increment)
        const charge = () =>
          chargeFor(voucher('OPEN', { price }), cents(value), fixturePricing({ markupBps }))
        if (!values.includes(value)) expect(charge).toThrow(/value out_of_range/)
        else expect(charge() >= BigInt(value) * 10_000n).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([499, 0, 10_001, 10_250, 501, 749])(
    'of %s cents is refused with the range',
    (value) => {
      expect(refusalOf(() => chargeFor(offer, cents(value), fixturePricing()))).toMatchObject({
        code: 'invalid_body',
        details: {
          parameter: 'value',
          faults: [
            { field: 'value', code: 'out_of_range', min: '5.00', max: '100.00', step: '2.50' },
          ],
        },
      })
    },
  )

  test('is asked for where it is missing, and refused where the price is fixed', () => {
    expect(() => chargeFor(offer, undefined, fixturePricing())).toThrow(/value missing_value/)
    expect(() => chargeFor(usd(100), cents(100), fixturePricing())).toThrow(/value fixed_price/)
  })

  test.each([
    ['USD', 10, { min: 500, max: 1_000, increment: 10 }],
    ['USD', 1, { min: 5_000, max: 10_000, increment: 100 }],
  ])('is understood in %s over %s', (currency, divisor, bounds) => {
    const price = { type: 'RANGE', currency, divisor, min: 50, max: 100, increment: 1 } as const
    expect(retailOf(voucher('OPEN', { price }), fixturePricing())).toEqual({
      type: 'RANGE',
      ...bounds,
      margin: { bps: 0, cents: 0 },
      lowest: bounds.min,
      highest: bounds.max,
    })
  })

  test.each([
    ['EUR', 100],
    ['USD', 1_000],
  ])('is not sold in %s over %s', (currency, divisor) => {
    const price = { ...open(500, 1_000), currency, divisor }
    expect(retailOf(voucher('OPEN', { price }), fixturePricing())).toMatchObject({
      code: 'open_value_currency',
    })
  })
})

test('required fields that no buyer can tell keep an offer out of the catalog, by name', () => {
  const offer = voucher('V', { requiredFields: ['recipient.email', 'recipient.nationalId'] })
  expect(retailOf(offer, fixturePricing())).toMatchObject({
    code: 'required_fields',
    reason: expect.stringMatching(/asks for recipient\.nationalId,/),
  })
})

test.each<Offer>([topup('T'), esim('E')])('a $kind needs no fields to be sold', (offer) => {
  expect(retailOf(offer, fixturePricing()).type).toBe('FIXED')
})

test('dollars for comparing are unrounded, and absent without a rate', () => {
  const rates = fixturePricing().rates()
  expect(inUsd(1_000, fixed(0, 'EUR'), rates)).toBeCloseTo(11.11, 2)
  expect(inUsd(1_000, fixed(0, 'JPY', 1), rates)).toBeCloseTo(6.67, 2)
  expect(inUsd(1_000, fixed(0), undefined)).toBe(10)
  expect(inUsd(1_000, fixed(0, 'EUR'), undefined)).toBeUndefined()
  expect(inUsd(1_000, fixed(0, 'ZZZ'), rates)).toBeUndefined()
})

describe('a margin that a rule sets', () => {
  const ruled = (...effects: readonly Effect[]) => {
    const scope = { type: 'everything', key: '' } as const
    const rules = sellingRulesOf(effects.map((effect, id) => ({ id, scope, effect })))
    return fixturePricing({ markupBps: 250, rules: () => rules })
  }
  const margin = (bps: number, more = 0) => ({ type: 'margin', bps, cents: more }) as const

  test.each([
    [margin(200), 25_500_000n],
    [margin(200, 30), 25_800_000n],
    [margin(0, 1), 25_010_000n],
    [margin(-200), 24_500_000n],
    [{ type: 'feature' } as const, 25_630_000n],
  ])('%o takes the place of the default: 25.00 costs %s atomic', (effect, asked) => {
    expect(chargeFor(usd(2_500), undefined, ruled(effect))).toBe(asked)
  })

  test('never sells below what the supplier charges, at any value', () => {
    const money = fc.record({ min: fc.integer({ min: 100, max: 5_000 }), steps: fc.nat(50) })
    const dearer = fc.integer({ min: -2_000, max: 4_000 })
    const terms = fc.tuple(
      fc.integer({ min: -9_999, max: 3_000 }),
      fc.integer({ min: -500, max: 500 }),
    )
    fc.assert(
      fc.property(money, dearer, terms, fc.nat(50), ({ min, steps }, more, [bps, add], step) => {
        const price = open(min, min + 100 * steps)
        const charged = (value: number) => Math.max(1, Math.round(value * (1 + more / 10_000)))
        const of = { price, cost: cost(charged(min), charged(price.max)) }
        const value = cents(min + 100 * Math.min(step, steps))
        const asked = chargeFor(voucher('OPEN', of), value, ruled(margin(bps, add)))
        const { amount } = listedCharge(voucher('OPEN', of), value, undefined)
        expect(asked).toBeGreaterThanOrEqual(BigInt(amount) * 10_000n)
        const card = voucher('CARD', { price: fixed(value), cost: cost(amount) })
        expect(chargeFor(card, undefined, ruled(margin(bps, add)))).toBeGreaterThanOrEqual(
          BigInt(amount) * 10_000n,
        )
      }),
    )
  })

  test('brings at least the least margin on the cost', () => {
    const card = voucher('CARD', { price: fixed(2_500), cost: cost(2_450) })
    const least = { type: 'least_margin', bps: 300, cents: 10 } as const
    expect(retailOf(card, ruled(margin(100), least))).toMatchObject({ cents: 2_534 })
    expect(retailOf(card, ruled(margin(-300)))).toMatchObject({ cents: 2_450 })
  })

  test('is shown in dollars where cents are added, whatever the currency of the supplier', () => {
    const euro = voucher('EURO', { price: fixed(1_000, 'EUR') })
    expect(retailOf(euro, ruled(margin(0, 25)))).toMatchObject({ cents: 1_137, by: 'price' })
  })
})

test('while everything is paused nothing has a price, but a place in searches', () => {
  const scope = { type: 'everything', key: '' } as const
  const rules = sellingRulesOf([{ id: 1, scope, effect: { type: 'pause' } }])
  const paused = fixturePricing({ rules: () => rules })
  expect(retailOf(usd(100), paused)).toMatchObject({ type: 'NOT_SOLD', code: 'paused' })
  expect(lowestCharge(usd(100), paused)).toBe(1_000_000n)
  expect(refusalOf(() => chargeFor(usd(100), undefined, paused))).toMatchObject({
    code: 'store_paused',
  })
})
