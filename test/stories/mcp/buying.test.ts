import { randomBytes } from 'node:crypto'
import { createSIWxPayload, encodeSIWxHeader } from '@x402/extensions/sign-in-with-x'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { bodyFor, buy, eventually, get, supplierSays } from '../requests.ts'
import { openStore, useStore } from '../store.ts'
import {
  type Arguments,
  buyWith,
  type CallTool,
  type McpClient,
  openClient,
  paymentFor,
  versions,
} from './client.ts'

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

const newKey = () => `mcp-${randomBytes(12).toString('hex')}`
const inline = { include_goods: true }
const voucher = 'TEST-VOUCHER-OK'

describe.each(versions)('with a client of %s', (version) => {
  let opened: McpClient
  let call: CallTool

  beforeAll(async () => {
    opened = await openClient(store, version)
    call = opened.call
    // From now on the client checks every answer against the schema of its tool.
    await opened.client.listTools()
  })
  afterAll(() => opened.close())

  test('asking the price is an error that holds the demand, twice', async () => {
    const asked = await call('buy', bodyFor('voucher', 'OK'))
    expect(asked.isError).toBe(true)
    expect(asked.texts).toEqual([JSON.stringify(asked.data)])
    expect(asked.data).toMatchObject({
      x402Version: 2,
      error: 'Payment required',
      resource: { url: 'mcp://tool/buy', mimeType: 'application/json' },
      accepts: [{ scheme: 'exact', amount: '500000', payTo: store.payTo }],
      extensions: {
        'payment-identifier': { info: { required: false } },
        bazaar: {
          info: { input: { type: 'mcp', toolName: 'buy', example: { offerId: voucher } } },
        },
      },
      charged: 'no',
      bodySchema: { required: expect.arrayContaining(['offerId', 'firstName']) },
      message: expect.stringContaining('_meta["x402/payment"]'),
    })
    expect(asked.meta).not.toHaveProperty('x402/payment-response')
  })

  test('what is paid for comes once, behind a link', async () => {
    const before = await buyer.balance()
    const args = { ...bodyFor('voucher', 'OK'), idempotency_key: newKey() }
    const { bought, send } = await buyWith(call, buyer, args)
    expect(bought.isError).toBe(false)
    expect(bought.data).toMatchObject({
      orders: [
        { state: 'FULFILLED', result: null, result_hint: expect.stringContaining('reveal') },
      ],
      reveal: {
        url: expect.stringMatching(new RegExp(`^${store.url}/reveal#\\S+$`)),
        expiresAt: expect.any(String),
      },
    })
    expect(JSON.stringify(bought)).not.toMatch(/SBX-|kat_/)
    expect(bought.meta['x402/payment-response']).toMatchObject({
      success: true,
      transaction: bought.data.transactionHash,
      payer: buyer.address,
      amount: '500000',
    })
    const again = await send()
    expect(again.data.orderId).toBe(bought.data.orderId)
    expect(await buyer.balance()).toBe(before - 500_000n)
  })

  test('the goods stand in the answer when that is asked for', async () => {
    const { bought } = await buyWith(call, buyer, { ...bodyFor('voucher', 'OK'), ...inline })
    expect(bought.data.orders[0].result.code).toMatch(/^SBX-/)
    expect(bought.data.accessToken).toMatch(/^kat_/)
    expect(bought.data).not.toHaveProperty('reveal')
    const { orderId, accessToken } = bought.data
    const token = { access_token: accessToken }
    const linked = await call('order_status', { orderId, ...token })
    expect(linked.data).toHaveProperty('reveal')
    expect(linked.data.orders[0].result).toBeNull()
    const shown = await call('order_status', { orderId, ...token, ...inline })
    expect(shown.data.orders).toEqual(bought.data.orders)
  })

  test('what fails is paid back, and refund says so', async () => {
    const before = await buyer.balance()
    const { bought } = await buyWith(call, buyer, bodyFor('topup', 'FAIL'))
    const { orderId } = bought.data
    const refunded = await eventually(
      () => call('refund', { orderId }),
      ({ data }) => data.state === 'REFUNDED',
    )
    expect(refunded.data).toMatchObject({ orderId, refund_to: buyer.address })
    const claim = { orderId, idempotency_key: newKey(), reason: 'It never came.' }
    const claimed = await call('refund', claim)
    expect(claimed.data).toMatchObject({ state: 'REFUNDED', reason: 'It never came.' })
    expect(await buyer.balance()).toBe(before)
    const { data } = await call('order_status', { orderId })
    expect(data).toMatchObject({ refund_state: 'REFUNDED' })
  })

  test('gives a link only to callers who prove that the goods are theirs', async () => {
    const key = newKey()
    const args = { ...bodyFor('voucher', 'OK'), idempotency_key: key }
    const { bought, payment } = await buyWith(call, buyer, args)
    const { orderId, paymentId, transactionHash } = bought.data
    // A payment is public once it is on the chain, so sending it again proves nothing.
    const repeated = await call('buy', bodyFor('voucher', 'OK'), { 'x402/payment': payment })
    const strangers = [
      await call('order_status', { orderId }),
      await call('order_status', { paymentId, ...inline }),
      await call('order_status', { orderId, access_token: 'kat_no', ...inline }),
    ]
    for (const { data } of strangers) {
      expect(data.orders[0]).toMatchObject({ state: 'FULFILLED', result: null })
      expect(data.orders[0].result_hint).toContain('idempotency_key')
      expect(data).not.toHaveProperty('reveal')
    }
    const stranger = { transactionHash, idempotency_key: newKey(), ...inline }
    for (const { data: standing } of [repeated, await call('order_status', stranger)]) {
      expect(standing).toMatchObject({ transactionHash, state: 'FULFILLED', refund_state: null })
      expect(JSON.stringify(standing)).not.toContain(orderId)
    }
    const own = await call('order_status', { orderId, idempotency_key: key })
    expect(own.data).toHaveProperty('reveal.url')
  })

  test('a wallet that signs in sees its orders, and its goods', async () => {
    const asked = await call('order_status')
    expect(asked).toMatchObject({ isError: true, data: { accepts: [] } })
    const { info, supportedChains } = asked.data.extensions['sign-in-with-x']
    expect(info.uri).toBe(`${store.url}/mcp`)
    const sign = () =>
      createSIWxPayload({ ...info, ...supportedChains[0] }, buyer.account, info.uri)
    const listed = await call('order_status', { limit: 2 }, { 'sign-in-with-x': await sign() })
    expect(listed.data).toMatchObject({ limit: 2, items: [{ state: expect.any(String) }, {}] })
    expect(JSON.stringify(listed.data)).not.toContain('SBX-')

    const other = (await call('order_status')).data.extensions['sign-in-with-x'].info
    const encoded = encodeSIWxHeader(
      await createSIWxPayload({ ...other, ...supportedChains[0] }, buyer.account, other.uri),
    )
    const meta = { 'sign-in-with-x': encoded }
    const delivered = (await buyWith(call, buyer, bodyFor('voucher', 'OK'))).bought.data
    const shown = await call('order_status', { orderId: delivered.orderId, ...inline }, meta)
    expect(shown.data.orders[0].result.code).toMatch(/^SBX-/)
    const twice = await call('order_status', { orderId: delivered.orderId }, meta)
    expect(twice.data).toMatchObject({ code: 'sign_in_invalid' })
  })

  test.each<[string, (payment: Arguments) => unknown, object]>([
    ['text', () => 'eyJ4', { code: 'payment_invalid' }],
    [
      'of version 1',
      (payment) => ({ ...payment, x402Version: 1 }),
      {
        code: 'payment_invalid',
        message: expect.stringMatching(/^This store does not take x402 version 1\./),
      },
    ],
    [
      'for another amount',
      (payment) => ({ ...payment, accepted: { ...(payment['accepted'] as object), amount: '1' } }),
      { code: 'payment_mismatch' },
    ],
  ])('a payment that is %s is asked for again', async (_, change, said) => {
    const args = bodyFor('esim', 'OK')
    const payment = await paymentFor(buyer, (await call('buy', args)).data.accepts[0])
    const answer = await call('buy', args, { 'x402/payment': change(payment) })
    expect(answer.isError).toBe(true)
    expect(answer.data).toMatchObject({ ...said, x402Version: 2, charged: 'no' })
    expect(answer.texts).toEqual([JSON.stringify(answer.data)])
  })
})

test('an order that is under way is waited for, and its link opens when it came', async () => {
  const slow = await openStore({ env: { PURCHASE_WAIT_SECONDS: '1' } })
  const opened = await openClient(slow, '2026-07-28')
  try {
    const { bought } = await buyWith(opened.call, buyer, bodyFor('voucher', 'HANG'))
    expect(bought.data).toMatchObject({ orders: [{ agent_action: 'wait' }], reveal: {} })
    expect(bought.texts[1]).toMatch(/order_status/)
    const [, token = ''] = bought.data.reveal.url.split('#')
    const early = await show(slow.url, token)
    expect([early.status, early.text]).toEqual([409, expect.stringContaining('Not delivered yet')])
    await supplierSays(slow, bought.data.orderId, 'DONE')
    const shown = await eventually(
      () => show(slow.url, token),
      ({ status }) => status === 200,
    )
    expect(shown.text).toContain('SBX-')
  } finally {
    await opened.close()
    await slow.close()
  }
})

describe('a link to the goods', () => {
  const linkOf = async (kind: 'voucher' | 'topup' | 'esim' = 'voucher') => {
    const opened = await openClient(store, '2026-07-28')
    const key = newKey()
    // A number that nothing failed for: the one of other tests may be above its budget.
    const receiver = kind === 'topup' ? { msisdn: '+12025550188' } : {}
    const args = { ...bodyFor(kind, 'OK'), ...receiver, idempotency_key: key }
    const { bought } = await buyWith(opened.call, buyer, args)
    await opened.close()
    const [, token = ''] = bought.data.reveal.url.split('#')
    return { token, orderId: bought.data.orderId, key }
  }

  test('opens a page that shows nothing until the button is pressed', async () => {
    const { token } = await linkOf()
    for (let at = 0; at < 3; at++) {
      const { status, headers, body } = await get(store.url, '/reveal')
      expect(status).toBe(200)
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('x-robots-tag')).toContain('noindex')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('content-security-policy')).toMatch(
        /^default-src 'none'; script-src 'self'; .*form-action 'self'/,
      )
      expect(body).toContain('<form class="reveal" method="post" action="/reveal">')
      expect(body.match(/(src|href)="https?:[^"]*"/g) ?? []).toEqual([])
    }
    expect((await show(store.url, token)).status).toBe(200)
  })

  test('shows the goods once, and says what to do the second time', async () => {
    const { token, orderId, key } = await linkOf()
    const shown = await show(store.url, token)
    expect(shown.status).toBe(200)
    expect(shown.text).toMatch(/<code class="copy" id="goods-code">SBX-[^<]+<\/code>/)
    expect(shown.text).toContain(orderId)
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(shown.text).toContain('<meta name="robots" content="noindex">')
    const again = await show(store.url, token)
    expect([again.status, again.text]).toEqual([
      410,
      expect.stringContaining('This link has been used'),
    ])
    expect(again.text).not.toContain('SBX-')
    const opened = await openClient(store, '2026-07-28')
    const { data } = await opened.call('order_status', { orderId, idempotency_key: key })
    await opened.close()
    expect((await show(store.url, data.reveal.url.split('#')[1])).text).toContain('SBX-')
  })

  test('opened many times at once still shows them once', async () => {
    const { token } = await linkOf()
    const shown = await Promise.all(Array.from({ length: 8 }, () => show(store.url, token)))
    expect(shown.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('that is not ours, or was changed, shows nothing and stays good', async () => {
    const { token } = await linkOf()
    const [body = '', mac = ''] = token.split('.')
    const other = Buffer.from(body, 'base64url').toString().replace('ord_', 'ord_0')
    const forged = `${Buffer.from(other).toString('base64url')}.${mac}`
    for (const bad of ['', 'x', token.slice(0, -1), forged, `${token}.${mac}`]) {
      const { status, text } = await show(store.url, bad)
      expect([status, text]).toEqual([
        400,
        expect.stringContaining('This link is not from this store'),
      ])
    }
    expect((await show(store.url, token)).status).toBe(200)
  })

  test('is never in the log', async () => {
    const { token } = await linkOf()
    await show(store.url, token)
    expect(store.logLines.join()).not.toContain(token)
    expect(store.logLines.join()).not.toContain(token.split('.')[1])
  })
})

test('an order of HTTP is found through tools, and one of tools through HTTP', async () => {
  const opened = await openClient(store, '2026-07-28')
  const overHttp = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  const { orderId, accessToken } = overHttp.answer.body
  const seen = await opened.call('order_status', { orderId, access_token: accessToken, ...inline })
  expect(seen.data.orders).toEqual(overHttp.answer.body.orders)
  const { bought } = await buyWith(opened.call, buyer, { ...bodyFor('voucher', 'OK'), ...inline })
  await opened.close()
  const { body } = await get(store.url, `/api/catalog/orders/${bought.data.orderId}`, {
    authorization: `Bearer ${bought.data.accessToken}`,
  })
  expect(body.orders).toEqual(bought.data.orders)
})

async function show(url: string, token: string) {
  const answer = await fetch(`${url}/reveal`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token }).toString(),
  })
  return { status: answer.status, headers: answer.headers, text: await answer.text() }
}
