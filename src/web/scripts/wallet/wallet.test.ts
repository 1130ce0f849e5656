import { describe, expect, test } from 'vitest'
import { cost, fixturePricing, open, voucher } from '../../../../test/fixtures/offers.ts'
import { withMarkup } from '../../../catalog/open-price.ts'
import { chargeFor, retailOf } from '../../../catalog/pricing.ts'
import { sellingRulesOf } from '../../../catalog/selling-rules.ts'
import { cents } from '../../../lib/money.ts'
import { filled, shownCost } from '../../buying/field-value.ts'
import { shownPriceOf } from '../../buying/form.ts'
import { discover, type FoundWallet } from './provider.ts'
import { lineItemIn } from './terms.ts'

const provider = { request: async () => null }
const info = { uuid: 'a', name: 'Rabby', icon: 'data:image/png;base64,AA==', rdns: 'io.rabby' }

/** The wallets that a page finds when these are announced, some of them before it asks. */
function found(...details: unknown[]): readonly FoundWallet[] {
  const window = new EventTarget()
  let last: readonly FoundWallet[] = []
  window.addEventListener('eip6963:requestProvider', () => {
    for (const detail of details) {
      window.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail }))
    }
  })
  discover(window, (wallets) => {
    last = wallets
  })
  return last
}

describe('the wallets of a browser', () => {
  test('are found by what they announce, each once', () => {
    const other = { info: { ...info, uuid: 'b', name: 'Other' }, provider }
    const wallets = found({ info, provider }, other, { info, provider })
    expect(wallets.map(({ name, icon }) => [name, icon])).toEqual([
      ['Rabby', info.icon],
      ['Other', info.icon],
    ])
  })
})

const openAt = (bps: number) => JSON.stringify({ min: 500, max: 50_000, margin: { bps, cents: 0 } })

describe('the price that a page says', () => {
  test('is that of the store, to the unit', () => {
    expect(shownCost('{"cents":2500}', undefined)).toBe(25_000_000n)
    for (const [value, bps] of [
      [5, 0],
      [25, 250],
      [12.34, 333],
      [99.99, 1],
    ] as const) {
      const store = withMarkup(Math.round(value * 100), bps)
      expect(shownCost(openAt(bps), value)).toBe(BigInt(store) * 10_000n)
    }
  })

  test.each([0, 250])('is that of the store where the supplier charges more (%i)', (markupBps) => {
    const pricing = fixturePricing({ markupBps })
    const offer = voucher('OPEN', { price: open(500, 50_000), cost: cost(537, 48_100) })
    const retail = retailOf(offer, pricing)
    const seen = shownPriceOf(retail)
    expect(retail).toHaveProperty('floor')
    for (let value = 500; value <= 50_000; value += 1_100) {
      expect(shownCost(seen, value / 100)).toBe(chargeFor(offer, cents(value), pricing))
    }
  })

  test.each([
    ['margin', -200, 0],
    ['margin', 150, 30],
    ['margin', -300, -10],
  ] as const)('is that of the store under a rule (%s of %i and %i cents)', (type, bps, more) => {
    const scope = { type: 'everything', key: '' } as const
    const rules = sellingRulesOf([{ id: 1, scope, effect: { type, bps, cents: more } }])
    const pricing = fixturePricing({ rules: () => rules })
    const offer = voucher('OPEN', { price: open(500, 50_000), cost: cost(490, 49_000) })
    const seen = shownPriceOf(retailOf(offer, pricing))
    for (let value = 500; value <= 50_000; value += 1_100) {
      expect(shownCost(seen, value / 100)).toBe(chargeFor(offer, cents(value), pricing))
    }
  })

  test.each([undefined, '5', Number.NaN, -1])('is none of the open value %s', (value) => {
    expect(shownCost(openAt(250), value)).toBeUndefined()
  })
})

test('a form is read as the store reads it', () => {
  const form = [
    ['key', 'k1'],
    ['seen', 'open:0'],
    ['value', ' 25.50 '],
    ['msisdn', '+502 5123-4567'],
    ['email', ''],
    ['pay', 'USDC'],
    ['refundTo-BTC', 'bc1q'],
  ] as const
  expect(lineItemIn(form, 'X')).toEqual({
    fields: { offerId: 'X', value: 25.5, msisdn: '+50251234567' },
    formKey: 'k1',
    seen: 'open:0',
  })
})

test('a text gets its values, and keeps what it has none for', () => {
  expect(filled('{a} and {b}', { a: '1' })).toBe('1 and {b}')
})
