import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { decodePaymentRequiredHeader, encodePaymentRequiredHeader } from '@x402/core/http'
import type { PaymentRequired } from '@x402/core/types'
import { declareDiscoveryExtension } from '@x402/extensions/bazaar'

interface Call {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
  readonly origin: string
}

/** An answer before it is sent, which a `Breaking` can change. */
export interface Page {
  status: number
  headers: Record<string, string>
  body: string
}

/** Breaks one thing in a shop without faults. */
export type Breaking = (page: Page, call: Call) => void

/** A small shop without faults, unless `breaking` adds one. */
export async function openShop(breaking: Breaking = () => {}) {
  const server = createServer(async (request, response) => {
    const call: Call = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: await text(request),
      origin,
    }
    const page = answer(call)
    breaking(page, call)
    response.writeHead(page.status, page.headers)
    response.end(call.method === 'HEAD' ? undefined : page.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

/** Changes the JSON of a body. */
// biome-ignore lint/suspicious/noExplicitAny: what is broken is of any shape
export function changeBody(page: Page, change: (json: any) => void): void {
  if (page.body === '') return
  const json = JSON.parse(page.body)
  change(json)
  page.body = JSON.stringify(json)
}

/** Changes the PAYMENT-REQUIRED header of a 402. */
// biome-ignore lint/suspicious/noExplicitAny: what is broken is of any shape
export function changeDemand(page: Page, change: (demand: any) => void): void {
  const header = page.headers['payment-required']
  if (header === undefined) return
  const demand = decodePaymentRequiredHeader(header)
  change(demand)
  page.headers['payment-required'] = Buffer.from(JSON.stringify(demand)).toString('base64')
}

/** The token for the metrics of the shop. */
export const shopToken = 'a-token-for-the-scraper'

const anywhere = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers':
    'content-type, payment-signature, sign-in-with-x, idempotency-key, access-control-expose-headers',
  'access-control-expose-headers': 'PAYMENT-REQUIRED, PAYMENT-RESPONSE',
}

function answer(call: Call): Page {
  if (call.method === 'OPTIONS') return { status: 204, headers: { ...anywhere }, body: '' }
  const route = routes[call.path]
  return route === undefined ? json(404, { error: 'There is nothing here.' }) : route(call)
}

const metrics = ['a', 'b']
  .map((node) => `kiosk402_nodes{node="${node}:8402",version="1.0.0"} 2\n`)
  .join('')

const routes: Readonly<Record<string, (call: Call) => Page>> = {
  '/.well-known/x402': ({ origin }) =>
    json(200, {
      version: 1,
      resources: [`${origin}/buy`, { url: `${origin}/orders` }, `${origin}/orders/{id}`],
      signals: { agent_action: 'proceed', last_updated: new Date().toISOString() },
    }),
  '/openapi.json': () => json(200, document),
  '/.well-known/jwks.json': () => json(200, { keys: [{ kty: 'EC', kid: '1' }] }),
  '/orders': (call) => signIn(call),
  '/buy': buy,
  '/mcp': mcp,
  '/metrics': ({ headers }) =>
    headers.authorization === `Bearer ${shopToken}`
      ? { status: 200, headers: { 'content-type': 'text/plain' }, body: metrics }
      : json(404, {}),
}

function buy(call: Call): Page {
  if (call.method !== 'POST') return json(405, {})
  const isRefused = call.body !== '' && !call.body.includes('SOCKS')
  return isRefused ? json(404, { error: 'no such item' }) : demand(call)
}

function demand({ origin, path, method }: Call): Page {
  const input = { item: 'SOCKS' }
  const schema = { type: 'object', properties: { item: { type: 'string' } } }
  const output = { example: { ok: true }, schema: { type: 'object' } }
  const declared = declareDiscoveryExtension({
    bodyType: 'json',
    input,
    inputSchema: schema,
    output,
  })
  const { bazaar } = declared as unknown as { bazaar: { info: { input: object } } }
  return demanding({
    x402Version: 2,
    error: 'Payment required',
    resource: { url: `${origin}${path}`, description: 'Socks', mimeType: 'application/json' },
    accepts: [
      {
        scheme: 'exact',
        network: 'eip155:8453',
        amount: '500000',
        asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
        payTo: '0x0d4441813770D0Dd831Ede50FBEA3Ca3C80dDA39',
        maxTimeoutSeconds: 300,
        extra: { name: 'USD Coin', version: '2' },
      },
    ],
    extensions: {
      bazaar: { ...bazaar, info: { ...bazaar.info, input: { method, ...bazaar.info.input } } },
    },
  })
}

function signIn({ origin, path }: Call): Page {
  const info = {
    domain: new URL(origin).host,
    uri: `${origin}${path}`,
    issuedAt: new Date().toISOString(),
    expirationTime: new Date(Date.now() + 300_000).toISOString(),
  }
  return demanding({
    x402Version: 2,
    resource: { url: `${origin}${path}`, description: '', mimeType: 'application/json' },
    accepts: [],
    extensions: { 'sign-in-with-x': { info, supportedChains: [] } },
  })
}

function demanding(required: PaymentRequired): Page {
  const header = encodePaymentRequiredHeader(required)
  const page = json(402, required)
  return {
    ...page,
    headers: { ...page.headers, 'payment-required': header, 'cache-control': 'no-store' },
  }
}

/** As much of MCP as it takes to list one tool. */
function mcp({ body }: Call): Page {
  const { id } = JSON.parse(body)
  const tool = { name: 'buy', description: 'Buys', inputSchema: { type: 'object' } }
  return json(200, { jsonrpc: '2.0', id, result: { tools: [tool] } })
}

const ok = { description: 'Fine' }
const paid = {
  'x-payment-info': {
    price: { mode: 'fixed', currency: 'USD', amount: '0.50' },
    protocols: [{ x402: {} }],
  },
  responses: { 200: ok, 402: { description: 'Payment required' } },
}
const textField = { type: 'object', properties: { item: { type: 'string' } } }

const document = {
  openapi: '3.1.0',
  info: {
    title: 'Shop',
    version: '1',
    'x-guidance': 'Search, then buy.',
    contact: { email: 'shop@shop.example' },
  },
  paths: {
    '/orders': { get: { security: [], responses: { 402: ok } } },
    '/buy': {
      post: { ...paid, requestBody: { content: { 'application/json': { schema: textField } } } },
    },
  },
}

function json(status: number, body: unknown): Page {
  const headers = { ...anywhere, 'content-type': 'application/json' }
  return { status, headers, body: JSON.stringify(body) }
}
