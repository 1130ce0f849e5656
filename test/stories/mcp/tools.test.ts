import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tokensIn } from '../../harness/tokens.ts'
import { post } from '../requests.ts'
import { openStore, type Store, useStore } from '../store.ts'
import { type CallTool, type McpClient, openClient, versions } from './client.ts'

const store = useStore()

describe.each(versions)('a client of %s', (version) => {
  let opened: McpClient
  let call: CallTool

  beforeAll(async () => {
    opened = await openClient(store, version)
    call = opened.call
  })
  afterAll(() => opened.close())

  test('is told what the store is and what it can do', async () => {
    const { client } = opened
    expect(client.getServerVersion()).toMatchObject({ name: 'kiosk402' })
    expect(client.getInstructions()).toContain('never pay again')
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual([
      'search',
      'get_offer',
      'quote',
      'buy',
      'order_status',
      'refund',
    ])
    // Every session of a model begins with them.
    expect(tokensIn(JSON.stringify(tools))).toBeLessThanOrEqual(3_000)
    for (const tool of tools) {
      // What hosts check before the store does, and with fewer words, is left out.
      const { properties = {}, ...root } = tool.inputSchema
      expect(Object.keys(root).filter((word) => !/^(type|required)$/.test(word))).toEqual([])
      expect(root.required).not.toEqual([])
      const words = Object.values(properties).flatMap((one) => Object.keys(one ?? {}))
      expect(words.filter((word) => !/^(type|enum|items|description)$/.test(word))).toEqual([])
      // SDK 1.x would hold errors and demands for a payment to it.
      expect(tool).not.toHaveProperty('outputSchema')
      expect(tool.description?.length).toBeGreaterThan(80)
      expect(tool.annotations).toHaveProperty('readOnlyHint', !/buy|refund/.test(tool.name))
    }
  })

  test('searches, reads one offer, and asks what it costs', async () => {
    await opened.client.listTools()
    const found = await call('search', { kind: 'voucher', search: 'sandbox test', limit: 5 })
    expect(found.isError).toBe(false)
    expect(found.data).toMatchObject({ limit: 5, offset: 0, items: expect.any(Array) })
    expect(JSON.parse(found.texts[0] ?? '')).toEqual(found.data)
    const [{ offerId }] = found.data.items
    const offer = await call('get_offer', { offerId })
    expect(offer.data).toMatchObject({ offerId, kind: 'voucher', purchase: { method: 'POST' } })
    const quoted = await call('quote', { offerId: 'TEST-ESIM-OK' })
    expect(quoted.data).toMatchObject({ kind: 'esim', usdc: { amount: '500000' } })
  })

  test('is told which tools there are when it asks for another', async () => {
    await expect(call('purchase', {})).rejects.toThrow(/The tools are search, get_offer/)
  })

  test.each<[string, string, Record<string, unknown>, object]>([
    ['no question', 'search', {}, { code: 'invalid_parameter', parameter: 'query' }],
    [
      'a misspelt filter',
      'search',
      { kind: 'esim', contry: 'US' },
      { code: 'unknown_parameter', parameter: 'contry', didYouMean: 'country' },
    ],
    ['an object', 'search', { kind: 'topup', brand: {} }, { parameter: 'brand' }],
    [
      'several countries where one is taken',
      'search',
      { country: 'fr, IT', kind: 'esim' },
      { parameter: 'country', detail: expect.stringContaining('covers=FR, IT') },
    ],
    ['no offer to buy', 'buy', {}, { code: 'invalid_body', parameter: 'offerId', charged: 'no' }],
    [
      'a flag that is none',
      'buy',
      { offerId: 'TEST-ESIM-OK', include_goods: 'yes' },
      { code: 'invalid_parameter', parameter: 'include_goods' },
    ],
    [
      'a claim without a key',
      'refund',
      { orderId: 'ord_0', reason: 'x' },
      { code: 'idempotency_key_missing', parameter: 'idempotency_key' },
    ],
  ])('with %s hears what to correct', async (_, tool, args, problem) => {
    const { isError, data, texts } = await call(tool, args)
    expect(isError).toBe(true)
    expect(data).toMatchObject({ requestId: expect.any(String), ...problem })
    expect(texts[0]).toContain(data.detail)
    expect(texts[0]).toContain(data.code)
    if (data.didYouMean !== undefined) expect(texts[0]).toContain(data.didYouMean)
  })

  test('may send null or nothing for what it leaves out, and text for a number', async () => {
    const args = { kind: 'voucher', limit: '3', brand: null, subType: '' }
    expect((await call('search', args)).data).toMatchObject({ limit: 3 })
    const every = { kind: '', brand: '', subType: '', search: '', region: '', regions: '', q: '' }
    const one = await call('search', { ...every, query: 'gift card', limit: 1 })
    expect(one.data.items).toMatchObject([{ kind: 'voucher' }])
    const filled = { email: '', country: '', msisdn: '', iccid: '', value: 0, quantity: 1 }
    const quoted = await call('quote', { offerId: 'TEST-ESIM-OK', firstName: '', ...filled })
    expect(quoted.data).toMatchObject({ usdc: { amount: '500000' } })
    const proofs = { idempotency_key: '', access_token: '' }
    const asked = await call('buy', { offerId: 'TEST-ESIM-OK', idempotency_key: '' })
    expect(asked.data).toHaveProperty('accepts')
    for (const [tool, args] of [
      ['order_status', { orderId: 'ord_0', ...proofs }],
      ['refund', { orderId: 'ord_0', reason: '', ...proofs }],
    ] as const) {
      expect((await call(tool, args)).data, tool).toMatchObject({ code: 'order_not_found' })
    }
  })

  test.each([
    ['a question', { query: 'sandbox test gift card', limit: 1 }],
    ['the filters of a kind', { kind: 'voucher', search: 'sandbox test', limit: 1 }],
  ])('hears of each offer what it costs and requires, by %s', async (_, args) => {
    const [offer] = (await call('search', args)).data.items
    expect(offer).toMatchObject({
      kind: 'voucher',
      usdc: { decimals: 6 },
      faceValue: { currency: 'USD' },
      requiredFields: expect.arrayContaining(['firstName']),
    })
    // The record has the rest.
    for (const name of ['price', 'buy_url', 'image']) expect(offer).not.toHaveProperty(name)
    const { data } = await call('get_offer', { offerId: offer.offerId })
    expect(data).toMatchObject({ ...offer, price: { currency: 'USD' }, available: true })
  })

  test.each([
    ['quote', 'max_usdc', { max_usdc: 'cheap' }],
    ['buy', 'max_usdc', { max_usdc: 0.1 }],
    ['buy', 'webhook_url', { webhook_url: 'http://example.com' }],
    ['buy', 'budget', { budget: 5 }],
  ])('is told by %s of %s as the tool calls it', async (tool, parameter, args) => {
    const { data } = await call(tool, { offerId: 'TEST-ESIM-OK', ...args })
    expect(data).toMatchObject({ parameter, charged: 'no' })
    expect(JSON.stringify(data)).not.toMatch(/maxUsdc|webhookUrl/)
  })
})

describe('the address of the server', () => {
  const ask = (body: unknown, headers: Record<string, string> = {}) =>
    post(store.url, '/mcp', body, {
      accept: 'application/json, text/event-stream',
      ...headers,
    })
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }

  test.each(['*/*', 'application/json'])(
    'answers plain JSON to callers that accept %s',
    async (accept) => {
      const { status, headers, body } = await ask(list, { accept })
      expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/json/)])
      expect(body.result.tools).toHaveLength(6)
      expect((await ask(list, { accept: 'text/html' })).status).toBe(406)
    },
  )

  test('takes POST only', async () => {
    const answer = await fetch(`${store.url}/mcp`)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'OPTIONS, POST'])
  })

  test.each<[string, unknown, number]>([
    ['a list of messages', [list, list], 422],
    ['no JSON', '{', 400],
    ['more than 16 kB', { ...list, params: { x: 'y'.repeat(17_000) } }, 413],
    ['an object that is no message', { hello: 1 }, 400],
  ])('refuses %s', async (_, body, status) => {
    expect((await ask(body)).status).toBe(status)
  })

  const called = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
  const meta = (more: object) => called({ name: 'buy', arguments: { offerId: 'X' }, _meta: more })

  test.each<[string, unknown]>([
    ['nothing', ''],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'nothing' }],
    ['a tool of every object', called({ name: '__proto__', arguments: {} })],
    ['a text for arguments', called({ name: 'search', arguments: 'x' })],
    ['nested arguments', called({ name: 'buy', arguments: { offerId: { a: [{}] } } })],
    ['a list for a payment', meta({ 'x402/payment': [1] })],
  ])('makes no defect of %s, and tells nothing of our insides', async (_, body) => {
    for (const headers of [{}, { 'mcp-protocol-version': '2026-07-28' }]) {
      const { status, body: said } = await ask(body, headers)
      expect(status).toBeLessThan(500)
      const text = typeof said === 'string' ? said : JSON.stringify(said)
      expect(text).not.toMatch(/internal_error|node_modules|\.ts\b| {4}at /)
    }
  })
})

describe('the limits', () => {
  let own: Store

  beforeAll(async () => {
    own = await openStore()
  })
  afterAll(() => own.close())

  const callFrom = (address: string, name: string, args: object, meta: object = {}) => {
    const params = { name, arguments: args, _meta: meta }
    return post(
      own.url,
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
      { accept: 'application/json, text/event-stream', 'x-forwarded-for': address },
    )
  }
  const dataIn = (text: string) =>
    JSON.parse(text.slice(text.indexOf('{'))).result.structuredContent

  test.each([
    ['search', { kind: 'esim', limit: 1 }, '10.9.0.1', '/ai/esims?limit=1'],
    [
      'quote',
      { offerId: 'TEST-ESIM-OK' },
      '10.9.0.2',
      '/api/catalog/esims/purchase/info?offerId=TEST-ESIM-OK',
    ],
  ])('of %s are those of the same question over HTTP', async (tool, args, address, path) => {
    const get = () => fetch(`${own.url}${path}`, { headers: { 'x-forwarded-for': address } })
    for (let at = 0; at < 30; at++) {
      expect((await get()).status).toBe(200)
      expect(dataIn((await callFrom(address, tool, args)).body)).not.toHaveProperty('code')
    }
    const refused = await callFrom(address, tool, args)
    expect(refused.headers.get('ratelimit')).toContain('r=0')
    expect(dataIn(refused.body)).toMatchObject({
      code: 'rate_limited',
      retryable: true,
      retryAfterSeconds: expect.any(Number),
    })
    expect((await get()).status).toBe(429)
    const other = await callFrom(address, 'get_offer', { offerId: 'TEST-ESIM-OK' })
    expect(dataIn(other.body)).toMatchObject({ offerId: 'TEST-ESIM-OK' })
  })

  test('hold for payments that are refused, whatever the transport', async () => {
    const address = '10.9.0.3'
    const bad = { 'x402/payment': { x402Version: 2 } }
    const buy = (meta: object) => callFrom(address, 'buy', { offerId: 'TEST-ESIM-OK' }, meta)
    for (let at = 0; at < 20; at++) {
      expect(dataIn((await buy(bad)).body)).toMatchObject({ code: 'payment_invalid' })
    }
    expect(dataIn((await buy(bad)).body)).toMatchObject({ code: 'rate_limited' })
    expect(dataIn((await buy({})).body)).toHaveProperty('accepts')
    const overHttp = await post(
      own.url,
      '/api/catalog/esims/purchase/info',
      { offerId: 'TEST-ESIM-OK' },
      { 'payment-signature': 'x', 'x-forwarded-for': address },
    )
    expect(overHttp.status).toBe(429)
  })
})
