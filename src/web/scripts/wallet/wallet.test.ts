import { describe, expect, test } from 'vitest'
import { cost, fixturePricing, open, voucher } from '../../../../test/fixtures/offers.ts'
import { chargeFor, retailOf, withMarkup } from '../../../catalog/pricing.ts'
import { cents } from '../../../lib/money.ts'
import { filled } from '../../buying/field-value.ts'
import { seenOf } from '../../buying/form.ts'
import { discover, type FoundWallet } from './provider.ts'
import { lineItemIn, saidPrice, usdcText } from './terms.ts'

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

  test.each([
    undefined,
    null,
    'wallet',
    {},
    { info },
    { info, provider: {} },
    { provider },
    { info: { ...info, name: ' ' }, provider },
    { info: { ...info, uuid: 1 }, provider },
  ])('that are none are not listed: %o', (detail) => {
    expect(found(detail)).toEqual([])
  })

  test.each([
    'https://evil.example/pixel.png',
    'javascript:alert(1)',
    'data:text/html,<script>',
    `data:image/png;base64,${'A'.repeat(70_000)}`,
    7,
    undefined,
  ])('have no picture from elsewhere: %s', (icon) => {
    const [wallet] = found({ info: { ...info, icon }, provider })
    expect([wallet?.name, wallet?.icon]).toEqual(['Rabby', undefined])
  })

  test('have names that fit', () => {
    expect(found({ info: { ...info, name: 'x'.repeat(500) }, provider })[0]?.name).toHaveLength(60)
  })
})

describe('the price that a page says', () => {
  test('is that of the store, to the unit', () => {
    expect(saidPrice('fixed:2500', undefined)).toBe(25_000_000n)
    for (const [value, bps] of [
      [5, 0],
      [25, 250],
      [12.34, 333],
      [99.99, 1],
    ] as const) {
      const store = withMarkup(Math.round(value * 100), bps)
      expect(saidPrice(`open:${bps}`, value)).toBe(BigInt(store) * 10_000n)
    }
  })

  test.each([0, 250])('is that of the store where the supplier charges more (%i)', (markupBps) => {
    const pricing = fixturePricing({ markupBps })
    const offer = voucher('OPEN', { price: open(500, 50_000), cost: cost(537, 48_100) })
    const retail = retailOf(offer, pricing)
    const seen = seenOf(retail, markupBps)
    expect(retail).toHaveProperty('floor')
    for (let value = 500; value <= 50_000; value += 1_100) {
      expect(saidPrice(seen, value / 100)).toBe(chargeFor(offer, cents(value), pricing))
    }
  })

  test.each([
    ['', 5],
    ['open:250:', 5],
    ['open:250:1-2:3', 5],
    ['fixed:100:1-2', undefined],
    ['open:250', '5'],
    ['open:250', undefined],
    ['open:250', Number.NaN],
    ['open:250', -1],
    ['fixed:', 5],
    ['free:1', 5],
  ])('is none in %s with %s', (seen, value) => {
    expect(saidPrice(seen, value)).toBeUndefined()
  })

  test('is written as people read it', () => {
    expect([25_000_000n, 1n, 500_000n, 12_345_600n].map(usdcText)).toEqual([
      '25.00',
      '0.000001',
      '0.50',
      '12.3456',
    ])
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
