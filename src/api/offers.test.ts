import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  cost,
  esim,
  fixed,
  fixturePricing,
  open,
  shopOffers,
  topup,
  voucher,
} from '../../test/fixtures/offers.ts'
import type { Offer } from '../catalog/offer.ts'
import { chargeFor, type Pricing } from '../catalog/pricing.ts'
import { cents } from '../lib/money.ts'
import { catalogOffer, discoveryOffer } from './offers.ts'

const site = { url: 'https://kiosk.example' }
const allowance = {
  dataGb: 2,
  dataUnlimited: false,
  durationDays: 30,
  voiceMinutes: 5,
  voiceUnlimited: true,
  smsNumber: 9,
  smsUnlimited: true,
}
const offers: readonly Offer[] = [
  ...shopOffers,
  topup('FULL_TOPUP', { allowance, shortNotes: 'Short "notes"', notes: 'é' }),
  topup('OPEN_TOPUP', { price: open(100, 900), faceValue: open(100, 900) }),
  esim('FULL_ESIM', { country: 'GT', allowance, shortNotes: '好', faceValue: fixed(450) }),
  voucher('BARE', { regions: [], subTypes: [], requiredFields: [] }),
  voucher('NO_RATE', { price: fixed(100, 'XYZ') }),
]

test.each([0, 250])('the catalog form has all of the discovery form (markup %i)', (markupBps) => {
  const deps = { site, pricing: fixturePricing({ markupBps }) }
  for (const offer of offers) {
    expect(catalogOffer(offer, deps), offer.id).toMatchObject(discoveryOffer(offer, deps))
  }
})

test('the catalog form says what a line gets beyond what the discovery form shows', () => {
  const deps = { site, pricing: fixturePricing() }
  const beyond = { voiceUnlimited: true, smsUnlimited: true }
  for (const offer of [topup('T', { allowance }), esim('E', { allowance })]) {
    expect(catalogOffer(offer, deps)).toMatchObject(beyond)
    expect(Object.keys(discoveryOffer(offer, deps))).not.toContain('voiceUnlimited')
  }
})

describe('what a published offer says of its price', () => {
  const parts = fc.record({
    price: fc.record({
      min: fc.integer({ min: 1, max: 500 }),
      steps: fc.nat(20),
      increment: fc.integer({ min: 1, max: 50 }),
      over: fc.nat(49),
      divisor: fc.constantFrom(1, 10, 100),
    }),
    charged: fc.integer({ min: 1, max: 200_000 }),
    markupBps: fc.nat(2_000),
  })

  test('of an open value is what its ends cost, the markup included', () => {
    fc.assert(
      fc.property(parts, ({ price, charged, markupBps }) => {
        const { min, steps, increment, over, divisor } = price
        const max = min + steps * increment + (over % increment)
        const pricing = fixturePricing({ markupBps })
        const offer = voucher('OPEN', {
          price: { ...open(min, max, increment), divisor },
          cost: cost(1, charged),
        })
        const { price: shown, usdc, value } = detailsOf(offer, pricing)
        const costs = (dollars: number) =>
          chargeFor(offer, cents(Math.round(dollars * 100)), pricing).toString()
        const ends = [costs(value.min), costs(value.max)]
        expect([usdc.min, usdc.max]).toEqual(ends)
        expect([shown.min, shown.max]).toEqual(ends.map((atomic) => Number(atomic) / 10_000))
        expect(Math.round((value.max - value.min) / value.step)).toBe(steps)
        if (steps > 0) expect(() => costs(value.min + value.step)).not.toThrow()
      }),
    )
  })

  test('in dollars is what is asked, to the cent, whatever it is counted in', () => {
    fc.assert(
      fc.property(parts, ({ price: { min, divisor }, charged, markupBps }) => {
        const pricing = fixturePricing({ markupBps })
        const offer = voucher('FIXED', { price: fixed(min, 'USD', divisor), cost: cost(charged) })
        const { price: shown, usdc } = detailsOf(offer, pricing)
        const asked = chargeFor(offer, undefined, pricing).toString()
        expect(usdc.amount).toBe(asked)
        expect(shown).toEqual({
          currency: 'USD',
          currencyDivisor: 100,
          fixed: Number(asked) / 10_000,
        })
      }),
    )
  })
})

const detailsOf = (offer: Offer, pricing: Pricing) =>
  catalogOffer(offer, { site, pricing }) as unknown as Shown

interface Shown {
  readonly price: Readonly<Record<'min' | 'max' | 'fixed', number>>
  readonly usdc: Readonly<Record<'amount' | 'min' | 'max' | 'increment', string>>
  readonly value: Readonly<Record<'min' | 'max' | 'step', number>>
}
