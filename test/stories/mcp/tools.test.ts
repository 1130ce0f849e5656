import { describe, expect, test } from 'vitest'
import { tokensIn } from '../../harness/tokens.ts'
import { post } from '../requests.ts'
import { useStore } from '../store.ts'
import { openClient, versions } from './client.ts'

const store = useStore('still')

describe.each(versions)('a client of %s', (version) => {
  test('is told what the store is and what it can do', async () => {
    await using opened = await openClient(store, version)
    const { client } = opened
    expect(client.getServerVersion()).toMatchObject({ name: 'kiosk402' })
    expect(client.getInstructions()).toContain('never pay again')
    const { tools } = await client.listTools()
    const names = ['search', 'get_offer', 'quote', 'buy', 'order_status', 'refund']
    expect(tools.map(({ name }) => name)).toEqual(names)
    // Every session of a model begins with them.
    expect(tokensIn(JSON.stringify(tools))).toBeLessThanOrEqual(3_000)
    for (const tool of tools) {
      // What hosts check before the store does, and with fewer words, is left out.
      const { properties = {}, ...root } = tool.inputSchema
      expect(Object.keys(root).filter((word) => !/^(type|required)$/.test(word))).toEqual([])
      const words = Object.values(properties).flatMap((one) => Object.keys(one ?? {}))
      expect(words.filter((word) => !/^(type|enum|items|description)$/.test(word))).toEqual([])
      // SDK 1.x would hold errors and demands for a payment to it.
      expect(tool).not.toHaveProperty('outputSchema')
      expect(tool.annotations).toHaveProperty('readOnlyHint', !/buy|refund/.test(tool.name))
    }
    await expect(opened.call('purchase', {})).rejects.toThrow(/The tools are search, get_offer/)
  })

  test('searches, reads one offer, and asks what it costs', async () => {
    await using opened = await openClient(store, version)
    await opened.client.listTools()
    const args = { kind: 'voucher', search: 'sandbox test', limit: '3', brand: null, subType: '' }
    const found = await opened.call('search', args)
    expect(found.data).toMatchObject({ limit: 3, offset: 0, items: expect.any(Array) })
    expect(JSON.parse(found.texts[0] ?? '')).toEqual(found.data)
    const [{ offerId }] = found.data.items
    const offer = await opened.call('get_offer', { offerId })
    expect(offer.data).toMatchObject({ offerId, kind: 'voucher', purchase: { method: 'POST' } })
    const quoted = await opened.call('quote', { offerId: 'TEST-ESIM-OK', iccid: '', value: 0 })
    expect(quoted.data).toMatchObject({ kind: 'esim', usdc: { amount: '500000' } })
  })
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
  ['no offer to buy', 'buy', {}, { code: 'invalid_body', parameter: 'offerId', charged: 'no' }],
  [
    'a flag that is none',
    'buy',
    { offerId: 'TEST-ESIM-OK', include_goods: 'yes' },
    { code: 'invalid_parameter', parameter: 'include_goods' },
  ],
  [
    'a webhook that is none',
    'buy',
    { offerId: 'TEST-ESIM-OK', webhook_url: 'http://example.com' },
    { parameter: 'webhook_url', charged: 'no' },
  ],
  [
    'a claim without a key',
    'refund',
    { orderId: 'ord_0', reason: 'x' },
    { code: 'idempotency_key_missing', parameter: 'idempotency_key' },
  ],
])('a call with %s hears what to correct', async (_, tool, args, problem) => {
  await using opened = await openClient(store, 'SDK 1.x')
  const { isError, data, texts } = await opened.call(tool, args)
  expect(isError).toBe(true)
  expect(data).toMatchObject({ requestId: expect.any(String), ...problem })
  expect(texts[0]).toContain(data.detail)
  expect(texts[0]).toContain(data.code)
  expect(texts[0]).toContain(data.didYouMean ?? '')
})

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const called = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
const accept = 'application/json, text/event-stream'

describe('the address of the server', () => {
  const ask = (body: unknown, headers: Record<string, string> = {}) =>
    post(store.url, '/mcp', body, { accept, ...headers })

  test('answers plain JSON to callers that accept it, and takes POST only', async () => {
    const { status, headers, body } = await ask(list, { accept: 'application/json' })
    expect([status, headers.get('content-type')]).toEqual([200, expect.stringMatching(/json/)])
    expect(body.result.tools).toHaveLength(6)
    expect((await ask(list, { accept: 'text/html' })).status).toBe(406)
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

  test.each<[string, unknown]>([
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'nothing' }],
    ['a tool of every object', called({ name: '__proto__', arguments: {} })],
    ['a text for arguments', called({ name: 'search', arguments: 'x' })],
    [
      'a list for a payment',
      called({ name: 'buy', arguments: {}, _meta: { 'x402/payment': [1] } }),
    ],
  ])('makes no defect of %s, and tells nothing of our insides', async (_, body) => {
    for (const headers of [{}, { 'mcp-protocol-version': '2026-07-28' }]) {
      const { status, body: said } = await ask(body, headers)
      expect(status).toBeLessThan(500)
      expect(JSON.stringify(said)).not.toMatch(/internal_error|node_modules|\.ts\b| {4}at /)
    }
  })
})

describe('the limits', () => {
  const callFrom = async (from: string, name: string, args: object, meta: object = {}) => {
    const body = called({ name, arguments: args, _meta: meta })
    const headers = { accept, 'x-forwarded-for': from }
    const { body: text } = await post(store.url, '/mcp', body, headers)
    return JSON.parse(text.slice(text.indexOf('{'))).result.structuredContent
  }

  test.each([
    ['search', { kind: 'esim', limit: 1 }, '10.9.0.1', '/ai/esims?limit=1'],
    [
      'quote',
      { offerId: 'TEST-ESIM-OK' },
      '10.9.0.2',
      '/api/catalog/esims/purchase/info?offerId=TEST-ESIM-OK',
    ],
  ])('of %s are those of the same question over HTTP', async (tool, args, from, path) => {
    const get = () => fetch(`${store.url}${path}`, { headers: { 'x-forwarded-for': from } })
    for (let at = 0; at < 30; at++) {
      expect((await get()).status).toBe(200)
      expect(await callFrom(from, tool, args)).not.toHaveProperty('code')
    }
    const limited = { code: 'rate_limited', retryable: true, retryAfterSeconds: expect.any(Number) }
    expect(await callFrom(from, tool, args)).toMatchObject(limited)
    expect((await get()).status).toBe(429)
  })

  test('hold for payments that are refused', async () => {
    const bad = { 'x402/payment': { x402Version: 2 } }
    const buy = (meta: object) => callFrom('10.9.0.3', 'buy', { offerId: 'TEST-ESIM-OK' }, meta)
    for (let at = 0; at < 20; at++) {
      expect(await buy(bad)).toMatchObject({ code: 'payment_invalid' })
    }
    expect(await buy(bad)).toMatchObject({ code: 'rate_limited' })
    expect(await buy({})).toHaveProperty('accepts')
  })
})
