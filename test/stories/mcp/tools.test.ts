import { describe, expect, test } from 'vitest'
import { post } from '../requests.ts'
import { useStore } from '../store.ts'
import { newKey, openClient, versions } from './client.ts'

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
    // Every session of a model begins with them: at most 2,500 tokens of about four characters.
    expect(JSON.stringify(tools).length).toBeLessThanOrEqual(10_000)
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
})

const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const called = (params: unknown) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params })
const accept = 'application/json, text/event-stream'

test('a subscription is acknowledged for nothing, because nothing here changes', async () => {
  await using opened = await openClient(store, '2026-07-28')
  const asked = { toolsListChanged: true, resourcesListChanged: true }
  const subscription = await opened.client.listen(asked)
  expect(subscription.honoredFilter).toEqual({})
})

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
})

describe('the limits', () => {
  const callFrom = async (from: string, name: string, args: object, meta: object = {}) => {
    const body = called({ name, arguments: args, _meta: meta })
    const headers = { accept, 'x-forwarded-for': from }
    const { body: text } = await post(store.url, '/mcp', body, headers)
    return JSON.parse(text.slice(text.indexOf('{'))).result.structuredContent
  }

  test.each([
    ['search', { kind: 'esim', limit: 1 }, '10.9.0.1', '/ai/search?kind=esim&limit=1'],
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
    const args = { offerId: 'TEST-ESIM-OK', idempotency_key: newKey() }
    const buy = (meta: object) => callFrom('10.9.0.3', 'buy', args, meta)
    for (let at = 0; at < 20; at++) {
      expect(await buy(bad)).toMatchObject({ code: 'payment_invalid' })
    }
    expect(await buy(bad)).toMatchObject({ code: 'rate_limited' })
    expect(await buy({})).toHaveProperty('accepts')
  })
})
