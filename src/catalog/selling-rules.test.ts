import { describe, expect, test } from 'vitest'
import { esim, topup, voucher } from '../../test/fixtures/offers.ts'
import type { Offer } from './offer.ts'
import { type Effect, type Scope, type SellingRule, sellingRulesOf } from './selling-rules.ts'

const offer = voucher('AMZ', { country: 'DE' })

/** One rule for each scope of the offer, the narrowest first. */
const scopes: readonly Scope[] = [
  { type: 'offer', key: 'AMZ' },
  { type: 'brand_country', key: 'AMAZON/DE' },
  { type: 'brand', key: 'AMAZON' },
  { type: 'country', key: 'DE' },
  { type: 'kind', key: 'voucher' },
  { type: 'supplier', key: 'zendit' },
  { type: 'everything', key: '' },
]

const rule = (id: number, scope: Scope, effect: Effect): SellingRule => ({ id, scope, effect })
const margin = (bps: number) => ({ type: 'margin', bps, cents: 0 }) as const
const everything: Scope = { type: 'everything', key: '' }

describe('of two rules', () => {
  test.each(scopes.slice(1).map((wide, at) => [scopes[at] as Scope, wide] as const))(
    'that of %o counts, not the newer one of %o',
    (narrow, wide) => {
      const rules = sellingRulesOf([rule(1, narrow, margin(100)), rule(2, wide, margin(200))])
      expect(rules.marginOf(offer)?.bps).toBe(100)
    },
  )

  test('of one scope the newest counts', () => {
    const rules = sellingRulesOf([rule(2, everything, margin(200)), rule(1, everything, margin(1))])
    expect(rules.marginOf(offer)?.bps).toBe(200)
  })

  test('a pause counts, however narrow the other one is', () => {
    const [narrowest = everything] = scopes
    const rules = sellingRulesOf([
      rule(1, { type: 'supplier', key: 'zendit' }, { type: 'pause' }),
      rule(2, narrowest, margin(1)),
    ])
    expect(rules.pauses(offer)).toBe(true)
  })
})

test.each(scopes)('a rule for %o is for no offer that is not of it', (scope) => {
  const others: readonly Offer[] = [
    topup('OTHER', { country: 'FR', source: { supplier: 'acme', product: 'O' } }),
    esim('EU'),
  ]
  const rules = sellingRulesOf([rule(1, scope, { type: 'hide' })])
  expect(rules.hides(offer)).toBe(true)
  // Both are of everything, and the plan is of the supplier.
  const hidden = others.filter(rules.hides).map(({ id }) => id)
  expect(hidden).toEqual(
    { everything: ['OTHER', 'EU'], supplier: ['EU'] }[scope.type as 'supplier'] ?? [],
  )
})

test('a way to pay is paused for itself', () => {
  const rules = sellingRulesOf([rule(1, { type: 'method', key: 'BTC' }, { type: 'pause' })])
  expect([rules.pausesMethod('BTC'), rules.pausesMethod('x402')]).toEqual([true, false])
  expect(rules.pauses(offer)).toBe(false)
})

test.each([
  ['method', ['x402', 'BTC']],
  ['kind', ['voucher', 'topup', 'esim']],
  ['supplier', ['zendit']],
] as const)('while every %s is paused, so is everything', (type, keys) => {
  const pauses = keys.map((key, id) => rule(id, { type, key }, { type: 'pause' }))
  const all = { method: ['x402'], kind: ['esim'], supplier: ['acme'], [type]: keys }
  expect(sellingRulesOf(pauses, all).isEverythingPaused).toBe(true)
  expect(sellingRulesOf(pauses.slice(1), all).isEverythingPaused).toBe(false)
})

test('words replace those of the supplier, each by the narrowest rule that has some', () => {
  const [ofOffer = everything, , ofBrand = everything] = scopes
  const rules = sellingRulesOf([
    rule(1, ofBrand, { type: 'name', text: 'Amazon' }),
    rule(2, ofBrand, { type: 'description', text: 'Books.' }),
    rule(3, ofOffer, { type: 'name', text: 'Amazon Germany' }),
    rule(4, everything, { type: 'picture', text: 'https://img.example/a.png' }),
  ])
  const words = {
    brandName: 'Amazon Germany',
    description: 'Books.',
    image: 'https://img.example/a.png',
  }
  expect(rules.reworded(offer)).toEqual({ ...offer, ...words })
  const plan = esim('PLAN')
  expect(
    sellingRulesOf([rule(1, everything, { type: 'description', text: 'Slow.' })]).reworded(plan),
  ).toEqual({
    ...plan,
    notes: 'Slow.',
  })
})
