import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openSibling, useStore } from '../store.ts'

const store = useStore('still')

type Headers = Readonly<Record<string, string>>

/** Asks for the tools under any name: `fetch` does not let its caller choose the host. */
async function listTools(url: string, headers: Headers) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  const sent = request(`${url}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
  })
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) =>
    sent.on('response', resolve).on('error', reject).end(body),
  )
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

const own = ['localhost', 'LOCALHOST:8402', '127.0.0.1:1', '127.8.0.1', '[::1]:8402']
const foreign = ['elsewhere.example', 'localhost.elsewhere.example', '127.0.0.1.nip.io', '10.0.0.1']

describe('a store that only its own machine reaches', () => {
  test.each(own)('is called %s', async (host) => {
    expect(await listTools(store.url, { host })).toMatchObject({ status: 200 })
    const origin = `http://${host.toLowerCase()}`
    expect(await listTools(store.url, { origin })).toMatchObject({ status: 200 })
  })

  test.each([
    ...foreign.map((host) => ({ host })),
    ...foreign.map((host) => ({ origin: `https://${host}` })),
    { origin: 'null' },
  ])('says how to call it to %o', async (headers) => {
    const { status, body } = await listTools(store.url, headers)
    expect([status, JSON.parse(body)]).toEqual([
      403,
      {
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_000, message: expect.stringMatching(/localhost.*PUBLIC_URL/) },
      },
    ])
  })
})

describe('a store with a name of its own', () => {
  let open: Awaited<ReturnType<typeof openSibling>>
  beforeAll(async () => {
    open = await openSibling(store, { PUBLIC_URL: 'https://store.example' })
  })
  afterAll(() => open.close())

  test('is called by any name, also behind a proxy that keeps none', async () => {
    for (const host of [...own, ...foreign]) {
      expect(await listTools(open.url, { host })).toMatchObject({ status: 200 })
    }
  })

  test('answers pages of other origins, with the id of the request and no cookie', async () => {
    const { headers } = await listTools(open.url, { origin: 'https://elsewhere.example' })
    expect(headers).toMatchObject({
      'access-control-allow-origin': '*',
      'x-request-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'cache-control': 'no-store',
    })
    expect(headers).not.toHaveProperty('set-cookie')
    const preflight = await fetch(`${open.url}/mcp`, {
      method: 'OPTIONS',
      headers: {
        origin: 'https://elsewhere.example',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type, mcp-protocol-version, mcp-method',
      },
    })
    expect(preflight.headers.get('access-control-allow-headers')).toContain('mcp-protocol-version')
  })
})
