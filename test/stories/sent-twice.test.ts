import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { generatePrivateKey } from 'viem/accounts'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { openReadingStore } from './reading.ts'
import { bodyFor, eventually, get, type Kind, post, purchasePath, termsOf } from './requests.ts'
import { openNode, openSibling, query, type Store, siblingSettings } from './store.ts'

// Between two equal paid requests comes whatever may come. The second one is answered with the order
// of the first, or hears that it is not known what was charged; never that nothing was, and never
// that another signature is wanted.

type Node = Awaited<ReturnType<typeof openNode>>
const nodes: Partial<Record<Between['node'], Pick<Node, 'url' | 'close'>>> = {}
let store: Store

const offers: Readonly<Record<Kind, Record<string, unknown>>> = {
  voucher: bodyFor('voucher', 'OK'),
  topup: bodyFor('topup', 'OK'),
  esim: bodyFor('esim', 'OK'),
}

beforeAll(async () => {
  store = await openReadingStore({ env: { PURCHASE_WAIT_SECONDS: '1' } })
  nodes.same = { url: store.url, close: async () => {} }
  await store.admin('/offers', { offerId: 'TEST-VOUCHER-OK', price: 90 })
  await store.admin('/offers', { offerId: 'TEST-TOPUP-OK', enabled: false })
  nodes.later = await openSibling(store)
  const poor = { ...(await siblingSettings(store)), refundKey: generatePrivateKey() }
  nodes.paused = await openNode(poor, store.parts)
  const priceAt =
    ({ url }: { url: string }, kind: Kind) =>
    () =>
      post(url, purchasePath(kind), offers[kind])
  await eventually(priceAt(nodes.later, 'topup'), ({ status }) => status !== 402)
  // Now its list lacks the offer, and the supplier has it again: else every topup would be refunded,
  // and the budget of its receiver would end.
  await store.admin('/offers', { offerId: 'TEST-TOPUP-OK', enabled: true })
  await eventually(priceAt(nodes.paused, 'esim'), ({ status }) => status === 503)
})
afterAll(async () => {
  await nodes.paused?.close()
  await nodes.later?.close()
  await store.close()
})

const between = fc.record({
  kind: fc.constantFrom<Kind[]>('voucher', 'topup', 'esim'),
  first: fc.constantFrom('HTTP', 'MCP'),
  second: fc.constantFrom('HTTP', 'MCP'),
  /** Where the second goes: `later` has other prices and offers, `paused` sells nothing. */
  node: fc.constantFrom('same', 'later', 'paused'),
  /** Of the address it comes from, used up. */
  limit: fc.constantFrom('none', 'purchase', 'refused', 'all'),
  key: fc.constantFrom('same', 'none', 'of no form'),
  signIn: fc.constantFrom('none', 'of no form'),
  body: fc.constantFrom('whole', 'whole', 'whole', 'cut off'),
  atOnce: fc.boolean(),
})
type Between = typeof between extends fc.Arbitrary<infer T> ? T : never

const addresses = { purchase: '10.77.0.1', refused: '10.77.0.2', all: '10.77.0.3' }

/** Uses up what an address may do in a minute. Where that is done already, it is one request. */
async function useUp(url: string, limit: keyof typeof addresses): Promise<void> {
  const headers = { 'x-forwarded-for': addresses[limit] }
  const path = purchasePath('voucher')
  if (limit === 'refused') {
    const bad = { ...headers, 'payment-signature': 'x' }
    return untilLimited(() => post(url, path, offers.voucher, bad))
  }
  await untilLimited(() => get(url, `${path}?offerId=X`, headers))
  if (limit === 'all') await untilLimited(() => get(url, '/api/catalog/topups/regions', headers))
}

/** More than any limit allows in a minute. */
const askedMost = 400

async function untilLimited(ask: () => Promise<{ readonly status: number }>): Promise<void> {
  for (let asked = 0; asked < askedMost; asked += 1) if ((await ask()).status === 429) return
  throw new Error(`${askedMost} requests are within the limit.`)
}

interface Sent {
  readonly url: string
  readonly door: string
  readonly kind: Kind
  readonly payment: string
  readonly key?: string | undefined
  readonly signIn?: string | undefined
  readonly address?: string | undefined
  readonly isCut?: boolean | undefined
}

/** Sends the payment through a door, and gives the answer as one text. */
async function send(sent: Sent): Promise<string> {
  const { url, address } = sent
  const from: Record<string, string> = address ? { 'x-forwarded-for': address } : {}
  const { path, body, headers } = sent.door === 'HTTP' ? overHttp(sent) : overMcp(sent)
  const whole = sent.isCut ? JSON.stringify(body).slice(0, -1) : body
  const answer = (await post(url, path, whole, { ...from, ...headers })).body
  return typeof answer === 'string' ? answer : JSON.stringify(answer)
}

function overHttp({ kind, payment, key, signIn }: Sent) {
  const headers = {
    'payment-signature': payment,
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...(signIn === undefined ? {} : { 'sign-in-with-x': signIn }),
  }
  return { path: purchasePath(kind), body: offers[kind], headers }
}

function overMcp({ kind, payment, key, signIn }: Sent) {
  const decoded = JSON.parse(Buffer.from(payment, 'base64').toString())
  const params = {
    name: 'buy',
    arguments: { ...offers[kind], idempotency_key: key },
    _meta: { 'x402/payment': decoded, 'sign-in-with-x': signIn },
  }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  return { path: '/mcp', body, headers: { accept: 'application/json, text/event-stream' } }
}

async function ordersOf({ address }: Buyer): Promise<string[]> {
  const rows = await store.query('select id from orders where payer = $1', [address.toLowerCase()])
  return rows.map(({ id }) => id)
}

/** Waits until the store has taken a request of this payer in, and goes on in the middle of it. */
async function takenIn({ address }: Buyer): Promise<void> {
  const like = `%:${address.toLowerCase()}:%`
  const sql = 'select 1 from payment_reservations where payment_key like $1'
  await eventually(
    () => store.query(sql, [like]),
    (rows) => rows.length > 0,
  )
}

/** The second request, with what has come between. */
function changed(first: Sent, { second, node, limit, key, signIn, body }: Between): Sent {
  const keys = { same: first.key, none: undefined, 'of no form': 'short' }
  return {
    ...first,
    url: nodes[node]?.url ?? store.url,
    door: second,
    key: keys[key],
    signIn: signIn === 'none' ? undefined : 'bm9ib2R5',
    address: limit === 'none' ? undefined : addresses[limit],
    isCut: body === 'cut off',
  }
}

test('the second of two equal paid requests gets the order, or hears that nothing is known', async () => {
  await fc.assert(
    fc.asyncProperty(between, async (what) => {
      const { kind, limit, atOnce } = what
      const buyer = await newBuyer(10_000_000n)
      const accepts = await termsOf(store.url, kind, offers[kind])
      const { header: payment } = await buyer.sign(accepts)
      const key = `key-${randomBytes(12).toString('hex')}`
      const first: Sent = { url: store.url, door: what.first, kind, payment, key }
      const second = changed(first, what)
      if (limit !== 'none') await useUp(second.url, limit)
      const begun = send(first)
      await (atOnce ? takenIn(buyer) : begun)
      const answer = await send(second)
      await begun

      const orders = await ordersOf(buyer)
      expect(orders).toHaveLength(1)
      expect(await buyer.balance()).toBeGreaterThanOrEqual(10_000_000n - BigInt(accepts.amount))
      expect(answer).not.toMatch(/"charged":\s*"no"/)
      expect(answer).not.toContain('"accepts"')
      const isFound = answer.includes(orders[0] ?? 'none')
      if (!isFound) expect(answer).toMatch(/"charged":\s*"(unknown|yes)"/)
      const mustBeFound = !atOnce && !second.isCut && limit !== 'all'
      expect(isFound || !mustBeFound, answer).toBe(true)
    }),
    { numRuns: 12 },
  )
})

test('while the database is away, nothing is known through either door', async () => {
  const buyer = await newBuyer()
  const { header: payment } = await buyer.sign(await termsOf(store.url, 'esim', offers.esim))
  const name = new URL(store.databaseUrl).pathname.slice(1)
  await send({ url: store.url, door: 'HTTP', kind: 'esim', payment })
  await allowConnections(name, false)
  try {
    for (const door of ['HTTP', 'MCP']) {
      const answer = await send({ url: store.url, door, kind: 'esim', payment })
      expect(answer).toMatch(/"charged":\s*"unknown"/)
      expect(answer).not.toContain('"accepts"')
    }
  } finally {
    await allowConnections(name, true)
  }
})

async function allowConnections(name: string, allowed: boolean): Promise<void> {
  const { databaseUrl } = inject('parts')
  await query(databaseUrl, `alter database ${name} with allow_connections ${allowed}`)
  if (allowed) return
  const end = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1'
  await query(databaseUrl, end, [name])
}
