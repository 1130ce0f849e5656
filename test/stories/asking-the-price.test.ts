import { describe, expect, test } from 'vitest'
import { balanceOf, transactionsOf } from './chain.ts'
import { rowsOf } from './reading.ts'
import { bodyFor, get, type Kind, post, purchasePath, termsOf } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore('still')

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']

/** All that asking must leave as it is. */
const everything = async () => ({
  rows: await rowsOf(store),
  sent: await transactionsOf(store.parts, store.gasWallet),
  earned: await balanceOf(store.parts, store.payTo),
})

const required = (headers: Headers) =>
  JSON.parse(Buffer.from(headers.get('payment-required') ?? '', 'base64').toString())

describe.each(kinds)('asking what a %s costs', (kind) => {
  const path = purchasePath(kind)
  const good = bodyFor(kind, 'OK')

  test('a body without a payment is answered with the exact terms, in header and body', async () => {
    const before = await everything()
    const answer = await post(store.url, path, good)
    expect(answer.status).toBe(402)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const { message, charged, bodySchema, ...body } = answer.body
    expect(body).toEqual(required(answer.headers))
    expect(charged).toBe('no')
    expect(bodySchema).toMatchObject({ properties: { offerId: { const: good['offerId'] } } })
    expect(body).toMatchObject({
      x402Version: 2,
      error: expect.any(String),
      resource: {
        url: `${store.url}${path}`,
        description: expect.stringContaining('Sandbox Test'),
        mimeType: 'application/json',
      },
      accepts: [
        {
          scheme: 'exact',
          network: 'eip155:84532',
          amount: '500000',
          asset: store.parts.usdc,
          payTo: store.payTo,
          maxTimeoutSeconds: 300,
          extra: { name: 'USDC', version: '2', quote: expect.any(String) },
        },
      ],
      extensions: { 'payment-identifier': { info: { required: false } } },
    })
    expect(message).toContain('PAYMENT-SIGNATURE')
    expect(await everything()).toEqual(before)
  })

  test('an empty body is answered with the lowest price and how the route is used', async () => {
    const { body: offers } = await get(store.url, `/api/catalog/${kind}s/offers?limit=100`)
    for (const body of [undefined, {}, null, '']) {
      const empty = await post(store.url, path, body)
      expect(empty.status).toBe(402)
      const [{ amount }] = empty.body.accepts
      for (const { usdc, available } of offers.items) {
        if (available) {
          expect(BigInt(usdc.amount ?? usdc.min)).toBeGreaterThanOrEqual(BigInt(amount))
        }
      }
      const { input } = empty.body.extensions.bazaar.info
      expect(input).toMatchObject({ type: 'http', method: 'POST', bodyType: 'json' })
      expect(input.body).toHaveProperty('offerId')
    }
  })

  test.each<[object, number, string]>([
    [{ offerId: 'NO-SUCH-OFFER' }, 404, 'offer_not_found'],
    [{ offerId: kind === 'esim' ? 'TEST-VOUCHER-OK' : 'TEST-ESIM-OK' }, 404, 'offer_not_found'],
    [{ value: 5 }, 422, 'invalid_body'],
    [{ colour: 'red' }, 422, 'invalid_body'],
  ])(
    'with %j is refused for what is wrong, and is never asked to pay',
    async (wrong, status, code) => {
      const body = { ...good, ...wrong } as Record<string, string>
      const posted = await post(store.url, path, body)
      expect(posted).toMatchObject({ status, body: { code, charged: 'no', retryable: false } })
      expect(posted.headers.get('payment-required')).toBeNull()
      const quoted = await get(store.url, `${path}?${new URLSearchParams(body)}`)
      expect(quoted).toMatchObject({ status, body: { code } })
    },
  )

  test('GET quotes the same amount, whatever is sent along, and HEAD is no way in', async () => {
    const before = await everything()
    const quotePath = `${path}?${new URLSearchParams(good as Record<string, string>)}`
    const terms = await termsOf(store.url, kind, good)
    const headers = { 'payment-signature': 'x', 'idempotency-key': 'a-key-of-a-get-request' }
    const quote = await get(store.url, quotePath, headers)
    expect(quote).toMatchObject({
      status: 200,
      body: {
        offerId: good['offerId'],
        kind,
        usdc: { amount: terms.amount, decimals: 6 },
        accepts: [{ ...terms, extra: expect.any(Object), extensions: expect.any(Object) }],
      },
    })
    expect(Date.parse(quote.body.validUntil)).toBeGreaterThan(Date.now())
    const head = await fetch(`${store.url}${quotePath}`, { method: 'HEAD', headers })
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET, OPTIONS, POST'])
    expect(await everything()).toEqual(before)
  })

  test('fields in the query of a purchase are refused, not taken for an empty body', async () => {
    const query = new URLSearchParams(good as Record<string, string>)
    const { status, body } = await post(store.url, `${path}?${query}`, undefined)
    expect(status).toBe(400)
    expect(body).toMatchObject({ code: 'unknown_parameter', parameter: 'offerId', charged: 'no' })
    expect(body.detail).toContain('as JSON in the body')
  })
})

describe('a maximum', () => {
  const path = purchasePath('voucher')
  const card = bodyFor('voucher', 'OK')

  test('that is exceeded is refused before anything is asked for, over POST and GET', async () => {
    const body = { ...card, maxUsdc: '0.49' } as Record<string, string>
    const above = {
      code: 'price_above_maximum',
      parameter: 'maxUsdc',
      price: { usdc: '0.50', atomic: '500000' },
      charged: 'no',
    }
    const asked = await post(store.url, path, body)
    expect(asked).toMatchObject({ status: 409, body: above })
    expect(asked.headers.get('payment-required')).toBeNull()
    const quoted = await get(store.url, `${path}?${new URLSearchParams(body)}`)
    expect(quoted).toMatchObject({ status: 409, body: above })
  })

  test.each(['', 'much', -1, [1], 0.0000001])('cannot be %j', async (maxUsdc) => {
    const answer = await post(store.url, path, { ...card, maxUsdc })
    expect(answer).toMatchObject({ status: 422, body: { parameter: 'maxUsdc' } })
  })
})

test.each<[Kind, object, RegExp]>([
  [
    'voucher',
    { ...bodyFor('voucher', 'OPEN'), value: '0.5' },
    /value 0\.5 = a 0\.50 USD .* card \(US\) for 0\.50 USDC/,
  ],
  ['topup', {}, /topup .*for the number \+12025550123 for 0\.50 USDC/],
  ['esim', {}, /a new .*eSIM plan.* for 0\.50 USDC/],
])(
  'a quote and a demand for a %s say what it is and what it costs',
  async (kind, fields, sentence) => {
    const body = { ...bodyFor(kind, 'OK'), ...fields } as Record<string, string>
    expect((await post(store.url, purchasePath(kind), body)).body.message).toMatch(sentence)
    const quoted = await get(store.url, `${purchasePath(kind)}?${new URLSearchParams(body)}`)
    expect(quoted.body.message).toMatch(sentence)
  },
)
