import { describe, expect, test } from 'vitest'
import { demoAt } from './demo.fixture.ts'
import { choose, hiddenFields, invoiceOn, unitsIn } from './person.ts'
import { scriptedStore } from './scripted-store.fixture.ts'
import { coinPayments } from './steps/coins.ts'

const shown = `<code class="copy" id="amount">0.00000777</code>
<code class="copy" id="address">bcrt1qaddress</code>
<a href="http://127.0.0.1:9/i/Invoice1">Pay in the sandbox</a>`

test('what a form hides is sent along', () => {
  const html = '<input type="hidden" name="key" value="a_b"><input type="text" name="other">'
  expect(hiddenFields(html)).toEqual({ key: 'a_b' })
})

test('the page of a payment shows what to pay, where, and the sandbox to pay in', () => {
  expect(invoiceOn(shown)).toEqual({
    asked: 777n,
    address: 'bcrt1qaddress',
    processor: 'http://127.0.0.1:9',
    invoice: 'Invoice1',
  })
})

test.each(['amount', 'address', 'http'])(
  'a page without its %s is a fault of the store',
  (part) => {
    expect(() => invoiceOn(shown.replaceAll(part, 'x'))).toThrow('shows no amount')
  },
)

test('an amount that has more digits than the coin is none', () => {
  expect(unitsIn('1.5')).toBe(150_000_000n)
  expect(() => unitsIn('0.000000001')).toThrow('no amount of BTC')
})

describe('a store that misbehaves ends the step with its reason', () => {
  const form = { status: 200, body: '<input type="hidden" name="key" value="k">' }
  const payPath = 'GET /pay/chk_1'
  const offer = (post: object) => ({
    'GET /buy/TEST-VOUCHER-OK': [form],
    'POST /buy/TEST-VOUCHER-OK': [{ status: 303, body: '', ...post }],
  })

  test('a form that is refused', async () => {
    const { url } = await scriptedStore(offer({ status: 422 }))
    await expect(choose(demoAt(url).demo.store, 'TEST-VOUCHER-OK', {})).rejects.toThrow(
      'The form of TEST-VOUCHER-OK answered 422',
    )
  })

  test('a page that never changes', async () => {
    const headers = { location: '/pay/chk_1', 'set-cookie': 'access=kat_1; Path=/pay/chk_1' }
    const processor = await scriptedStore({
      'POST /sandbox/invoices/Invoice1/pay': [{ status: 200, body: {} }],
    })
    const page = shown.replace('http://127.0.0.1:9', processor.url)
    const body = `<h1>Send your payment</h1>${page}`
    const { url, received } = await scriptedStore({
      ...offer({ headers }),
      [payPath]: Array.from({ length: 70 }, () => ({ status: 200, body })),
    })
    const { demo, waited } = demoAt(url)
    await expect(
      coinPayments.run(demo, { start: 0n, purchases: [], coinPayments: [] }),
    ).rejects.toThrow('The page /pay/chk_1 still says "Send your payment" after 60 s.')
    expect(waited).toHaveLength(60)
    const looks = received.filter(({ line }) => line === payPath)
    expect(new Set(looks.map(({ headers: { cookie } }) => cookie))).toEqual(
      new Set(['access=kat_1']),
    )
  })
})
