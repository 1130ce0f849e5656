import { Agent, request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { newBuyer } from './buyer.ts'
import { addresses, expectNoInsides, openReadingStore, rowsOf } from './reading.ts'
import { bodyFor, purchasePath, termsOf } from './requests.ts'
import type { Store } from './store.ts'

let store: Store

beforeAll(async () => {
  store = await openReadingStore({ offers: 200 })
})
afterAll(() => store.close())

const requests = 2_000
const atOnce = 16

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: string
}

/** Numbers from 0 up to 1 that are the same for the same seed (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const goodPaths = [
  '/ai',
  '/ai/capabilities',
  '/ai/vouchers?country=US&brand=amazon&subType=Shopping&search=gift&limit=5&offset=2',
  '/ai/topups?country=US&brand=tigo&subType=voice&region=Africa&limit=5&offset=2',
  '/ai/esims?country=FR&regions=Europe&q=data&brand=x&limit=5&offset=2',
  '/api/catalog',
  '/.well-known/x402',
  '/api/catalog/vouchers/offers?brand=a&country=US&category=Fuel&minValue=1.5&maxValue=90&limit=3',
  '/api/catalog/vouchers/offers/TEST-VOUCHER-OPEN',
  '/api/catalog/vouchers/brands',
  '/api/catalog/vouchers/filters',
  '/api/catalog/topups/offers?country=EG&region=south-asia&operator=vodafone&offset=7',
  '/api/catalog/topups/regions',
  '/api/catalog/esims/offers?covers=FR,DE&regional=true&regions=Global&duration=7&q=data&limit=9',
  '/api/catalog/esims/orders/info?limit=5&offset=1',
  `/api/catalog/orders?transactionHash=0x${'ab'.repeat(32)}&limit=5`,
  `/api/catalog/orders/ord_${'0'.repeat(26)}`,
  `/api/catalog/orders/ord_${'0'.repeat(26)}/refund`,
  '/api/catalog/vouchers/purchase/info?offerId=TEST-VOUCHER-OK&firstName=Ada&lastName=Lovelace',
  '/api/catalog/topups/purchase/info?offerId=TEST-TOPUP-OK&msisdn=%2B12025550123',
  '/buy/TEST-ESIM-OK',
  '/sandbox',
  '/readyz',
]

/** Pieces that have broken readers of text before; none is a word of our insides. */
const pieces = [
  ...['%00', '%0a', '%0d%0a', '%ff', '%c3', '%e2%80%ae', '%f0%9f%98%80', '%', '%%', '%u0041'],
  ...['&', '=', '&&', '==', '?', '??', '#', ';', ',', '[]', '[0]', '{}', '(', "'", '*', '|', '~'],
  ...[
    '../',
    '..%2f',
    '%2e%2e/',
    './',
    '//',
    '\\',
    '__proto__',
    'constructor',
    '-1',
    '1e999',
    '0x1',
  ],
  ...[
    'null',
    'true',
    'NaN',
    '99999999999999999999',
    '1.5',
    '-0',
    '+',
    '%20',
    '\u007f',
    'x'.repeat(300),
  ],
]
const bodyPieces = [
  ...[
    '"',
    '\\',
    '\\u0000',
    '\\ud800',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\u0000',
    '\u0007',
    '\t',
    '\n',
  ],
  ...[
    'null',
    'true',
    '1e999',
    '-0',
    '"__proto__":{}',
    '"constructor":1',
    '{}',
    '[[[[[[',
    '🙂',
    '\u202e',
  ],
  ...['"value":', '"offerId":', '"TEST-VOUCHER-OPEN"', '0.5', 'x'.repeat(2_000), '//', '/*'],
]
const headerPieces = [
  '',
  '=',
  '%',
  '{',
  'Bearer ',
  ',',
  '"',
  'x'.repeat(700),
  '0',
  '-1',
  'W/',
  '*',
  ';',
]

/** Makes one request after another out of good ones, by changes at random places. */
function mutator(random: () => number, payment: string) {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const times = (most: number) => Math.floor(random() * (most + 1))
  const mutated = (text: string, from: readonly string[], most: number) => {
    let result = text
    for (let left = times(most); left > 0; left -= 1) {
      const at = Math.floor(random() * (result.length + 1))
      const cut = random() < 0.4 ? times(8) : 0
      result = result.slice(0, at) + (random() < 0.8 ? pick(from) : '') + result.slice(at + cut)
    }
    return result
  }
  const goodHeaders: Record<string, string> = {
    authorization: `Bearer ${'t'.repeat(43)}`,
    'idempotency-key': 'k'.repeat(32),
    'sign-in-with-x': Buffer.from('{"domain":"x"}').toString('base64'),
    'if-none-match': '"abc", W/"def"',
    'payment-signature': payment,
    'content-type': 'application/json',
    accept: '*/*',
    origin: 'https://agent.example',
  }
  const headers = () =>
    Object.fromEntries(
      Object.entries(goodHeaders)
        .filter(() => random() < 0.25)
        .map(([name, value]) => [name, random() < 0.5 ? value : mutated(value, headerPieces, 3)]),
    )

  const reading = (): Sent => {
    const path = mutated(pick(goodPaths), pieces, 4)
    const method = random() < 0.9 ? 'GET' : 'HEAD'
    return { method, path: path.startsWith('/') ? path : `/${path}`, headers: headers() }
  }

  const buying = (): Sent => {
    const kind = pick(['voucher', 'topup', 'esim'] as const)
    const refund = `/api/catalog/orders/ord_${'0'.repeat(26)}/refund`
    return {
      method: pick(['POST', 'POST', 'POST', 'POST', 'PUT', 'DELETE']),
      path: pick([...Array(9).fill(purchasePath(kind)), refund]),
      headers: {
        ...headers(),
        ...(random() < 0.9 ? { 'content-type': 'application/json' } : {}),
        ...(random() < 0.4 ? { 'payment-signature': payment } : {}),
      },
      body: mutated(JSON.stringify(bodyFor(kind, 'OK')), bodyPieces, 4),
    }
  }

  return (): Sent => (random() < 0.6 ? reading() : buying())
}

interface Answered {
  readonly status: number
  readonly type: string
  readonly text: string
}

/** Sends a path as it is: `fetch` would put it in order first. */
function send(agent: Agent, address: string, { method, path, headers, body }: Sent) {
  return new Promise<Answered>((resolve, reject) => {
    const { port } = new URL(store.url)
    const asked = request(
      {
        agent,
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { ...headers, 'x-forwarded-for': address },
        signal: AbortSignal.timeout(6_000),
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const type = response.headers['content-type'] ?? ''
          const text = Buffer.concat(chunks).toString()
          resolve({ status: response.statusCode ?? 0, type, text })
        })
      },
    )
    asked.on('error', reject)
    asked.end(body)
  })
}

/** A refusal is a readable one, whatever was sent; anything else is what the path is for. */
function expectDecided(sent: Sent, { status, type, text }: Answered): void {
  const about = `${JSON.stringify(sent).slice(0, 1_500)} is answered ${status} ${text.slice(0, 500)}`
  const decided = [200, 202, 304, 400, 401, 402, 404, 405, 409, 413, 415, 422, 431]
  expect(decided, about).toContain(status)
  if (status < 400) return
  expectNoInsides(withoutEcho(text), about)
  if (sent.method === 'HEAD') expect(text, about).toBe('')
  else if (status === 402) expect(JSON.parse(text).x402Version, about).toBe(2)
  else if (!type.startsWith('text/html')) expectReason(sent.path, JSON.parse(text), about)
}

function expectReason(path: string, body: Record<string, unknown>, about: string): void {
  const says = path.startsWith('/ai') ? (body['error'] ?? body['detail']) : body['detail']
  expect(says, about).toMatch(/^.{6,}$/s)
}

/** What a caller wrote may come back to it, and is not ours. */
function withoutEcho(text: string): string {
  return text.replace(/(?:0x|x{20,})[0-9a-z]*/gi, '')
}

test.each([402, 84_532])(`${requests / 2} random requests from the seed %d`, async (seed) => {
  const poor = await newBuyer(0n)
  const accepts = await termsOf(store.url, 'voucher', bodyFor('voucher', 'OK'))
  const { header } = await poor.sign(accepts)
  const before = await rowsOf(store)
  const next = mutator(randomFrom(seed), header)
  const all = Array.from({ length: requests / 2 }, next).filter(isSendable)
  expect(all.length).toBeGreaterThan(requests / 2.5)
  const nextAddress = addresses()
  const agent = new Agent({ keepAlive: true, maxSockets: atOnce })
  const queue = all.values()
  const worker = async () => {
    for (const sent of queue) expectDecided(sent, await send(agent, nextAddress(), sent))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  agent.destroy()
  expect(await rowsOf(store)).toEqual(before)
  expect(store.logLines.filter((line) => line.includes('unexpected error'))).toEqual([])
})

/** Node's own client refuses these before they leave; what they do is told in raw bytes elsewhere. */
function isSendable({ path, headers }: Sent): boolean {
  const isVisible = (text: string) => /^[\x21-\x7e]*$/.test(text)
  return isVisible(path) && Object.values(headers).every((value) => /^[\x20-\x7e]*$/.test(value))
}
