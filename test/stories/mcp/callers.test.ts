import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { openSibling, useStore } from '../store.ts'

const store = useStore('still')

type Headers = Readonly<Record<string, string>>

/** Asks for the tools under any name: `fetch` does not let its caller choose the host. */
async function listTools(url: string, own: Headers) {
  const accept = 'application/json, text/event-stream'
  const headers = { 'content-type': 'application/json', accept, ...own }
  const sent = request(`${url}/mcp`, { method: 'POST', headers })
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
    sent.on('response', resolve).on('error', reject).end(body)
  })
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

const own = ['localhost', 'LOCALHOST:8402', '127.8.0.1', '[::1]:8402']
const foreign = ['elsewhere.example', 'localhost.elsewhere.example', '127.0.0.1.nip.io', '10.0.0.1']

test('a store that only its own machine reaches is called by its names, and says so to others', async () => {
  for (const host of own) {
    expect(await listTools(store.url, { host })).toMatchObject({ status: 200 })
    const origin = `http://${host.toLowerCase()}`
    expect(await listTools(store.url, { origin })).toMatchObject({ status: 200 })
  }
  const others = foreign.flatMap((host): Headers[] => [{ host }, { origin: `https://${host}` }])
  for (const headers of [...others, { origin: 'null' }]) {
    const { status, body } = await listTools(store.url, headers)
    const message = expect.stringMatching(/localhost.*PUBLIC_URL/)
    expect([status, JSON.parse(body)]).toEqual([
      403,
      { jsonrpc: '2.0', id: null, error: { code: -32_000, message } },
    ])
  }
})

test('a store with a name of its own is called by any, also by pages of other origins', async () => {
  const open = await openSibling(store, { PUBLIC_URL: 'https://store.example' })
  try {
    for (const host of [...own, ...foreign]) {
      expect(await listTools(open.url, { host })).toMatchObject({ status: 200 })
    }
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
  } finally {
    await open.close()
  }
})
