import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import {
  cost,
  esim,
  fixed,
  fixtureNow,
  fixturePricing,
  open,
  shopOffers,
  topup,
  voucher,
} from '../../../test/fixtures/offers.ts'
import { createLiveCatalog } from '../../catalog/catalog.ts'
import { kinds } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import { chargeFor, type Pricing, retailOf } from '../../catalog/pricing.ts'
import { copyReady } from '../../catalog/ready-json.ts'
import { cents } from '../../lib/money.ts'
import { jsonBytes } from '../json-bytes.ts'
import { catalogOffer, publishing, unfinishedView } from './catalog-offer.ts'
import { discoveryOffer } from './discovery-offer.ts'

const siteUrl = 'https://kiosk.example'
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

const publishedShort = (offer: Offer, pricing: Pricing) =>
  discoveryOffer(offer, retailOf(offer, pricing), { siteUrl, markupBps: pricing.markupBps })

describe('the two parts of a published offer', () => {
  test.each([0, 250])('are together the whole, and no key is in both (markup %i)', (markupBps) => {
    const pricing = fixturePricing({ markupBps })
    const publish = publishing({ siteUrl, pricing })
    for (const offer of offers) {
      const { discovery, beyond } = publish(offer)
      expect(discovery, offer.id).toEqual(publishedShort(offer, pricing))
      const keys = [...Object.keys(discovery), ...Object.keys(beyond)]
      expect(new Set(keys).size, offer.id).toBe(keys.length)
      expect({ ...discovery, ...beyond }, offer.id).toEqual(
        catalogOffer(offer, { siteUrl, pricing }),
      )
    }
  })

  test('are found finished in a catalog, byte for byte', () => {
    const pricing = fixturePricing({ markupBps: 250 })
    const catalog = catalogOf(offers, pricing)
    for (const kind of kinds) {
      const { rows, ready, all, offerAt } = catalog.listed[kind]
      for (const doc of all) {
        const offer = offerAt(doc)
        const textOf = (form: 'discovery' | 'catalog') => {
          const text = jsonBytes()
          copyReady(ready, rows[doc] as number, form, text)
          return `${text.take().toString()}}`
        }
        const short = publishedShort(offer, pricing)
        expect(textOf('discovery')).toBe(JSON.stringify(short))
        expect(textOf('catalog')).toBe(JSON.stringify(catalogOffer(offer, { siteUrl, pricing })))
      }
    }
  })

  test('say what a line gets beyond what the discovery form shows', () => {
    const publish = publishing({ siteUrl, pricing: fixturePricing() })
    const { beyond } = publish(topup('FULL_TOPUP', { allowance, shortNotes: 'Notes' }))
    expect(beyond).toMatchObject({ kind: 'topup', voiceUnlimited: true, shortNotes: 'Notes' })
    expect(publish(esim('FULL_ESIM', { allowance })).beyond).toMatchObject({
      brandName: 'Nomadnet',
      voiceMinutes: 5,
      smsNumber: 9,
    })
  })
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

  test('of an open value is legal to ask for, and what its ends cost', () => {
    fc.assert(
      fc.property(parts, ({ price, charged, markupBps }) => {
        const { min, steps, increment, over, divisor } = price
        const max = min + steps * increment + (over % increment)
        const pricing = fixturePricing({ markupBps })
        const offer = voucher('OPEN', {
          price: { ...open(min, max, increment), divisor },
          cost: cost(1, charged),
        })
        const { price: shown, usdc } = detailsOf(offer, pricing)
        const costs = (value: number) => chargeFor(offer, cents(value), pricing).toString()
        expect([usdc.min, usdc.max]).toEqual([costs(shown.min), costs(shown.max)])
        const step = Number(usdc.increment) / 10_000
        expect(shown.max - shown.min).toBe(steps * step)
        if (steps > 0) expect(() => costs(shown.min + step)).not.toThrow()
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
  catalogOffer(offer, { siteUrl, pricing }) as unknown as Shown

interface Shown {
  readonly price: Readonly<Record<'min' | 'max' | 'fixed', number>>
  readonly usdc: Readonly<Record<'amount' | 'min' | 'max' | 'increment', string>>
}

describe('while the rates of a catalog and those of now differ', () => {
  const later = new Date(fixtureNow.getTime() + 30 * 24 * 3_600_000)
  const inEuro = voucher('EURO', { price: fixed(1000, 'EUR') })
  const viewAt = (builtAt: Date, now: Date, rates = fixturePricing().rates) => {
    const built = fixturePricing({ now: () => builtAt, readAt: () => builtAt })
    const liveCatalog = createLiveCatalog(catalogOf([inEuro], built))
    const pricing = fixturePricing({ now: () => now, rates, readAt: () => builtAt })
    const site = {
      name: '',
      description: '',
      url: siteUrl,
      logo: '',
      contact: '',
      acceptsCrypto: [],
    }
    return unfinishedView({ liveCatalog, pricing, site })
  }

  test('offers are shown as they are now', () => {
    expect(viewAt(fixtureNow, later)?.(inEuro)).toMatchObject({ available: false })
    expect(viewAt(later, fixtureNow)?.(inEuro)).toMatchObject({ available: true })
    const noRates = viewAt(fixtureNow, fixtureNow, () => undefined)
    expect(noRates?.(inEuro)).toMatchObject({ available: false })
  })

  test('and otherwise what is finished holds', () => {
    expect(viewAt(fixtureNow, fixtureNow)).toBeUndefined()
    expect(viewAt(later, later)).toBeUndefined()
  })
})
