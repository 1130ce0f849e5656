import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { query } from '../harness/query.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { transfersBetween } from './chain.ts'
import { callToken, settling } from './contracts/calls.ts'
import {
  buyNothing,
  type Limit,
  limitedAddress,
  type Node,
  nodesOf,
  spendBudget,
  usedSignIn,
} from './interferences.ts'
import { bodyFor, eventually, type Kind, post, purchasePath, termsOf } from './requests.ts'
import { openNode, openSibling, useStore } from './store.ts'

// Between two equal paid requests comes whatever may come. The second one is answered with the order
// of the first, or hears that it is not known what was charged; never that nothing was, and never
// that another signature is wanted.

const store = useStore({ env: { PURCHASE_WAIT_SECONDS: '1' } })
let nodes: Readonly<Record<Between['node'], Node>>

const offers: Readonly<Record<Kind, Record<string, unknown>>> = {
  voucher: bodyFor('voucher', 'OK'),
  topup: bodyFor('topup', 'OK'),
  esim: bodyFor('esim', 'OK'),
}

beforeAll(async () => {
  const same = { url: store.url, close: store.halt }
  nodes = { same, renewed: same, ...(await nodesOf(store)) }
})
afterAll(async () => {
  await Promise.all(Object.values(nodes).map((node) => node.close()))
})

const between = fc.record({
  kind: fc.constantFrom<Kind[]>('voucher', 'topup', 'esim'),
  first: fc.constantFrom('HTTP', 'MCP'),
  second: fc.constantFrom('HTTP', 'MCP'),
  /**
   * Where the second goes: `later` has other prices and offers, `paused` sells nothing, `strict` does
   * not to this buyer, whose budget is spent, `alone` hears nothing of the supplier and the chain,
   * `doubting` hears of a chain on which this buyer has nothing, and `renewed` has been restarted since
   * the first came to it.
   */
  node: fc.constantFrom('same', 'later', 'paused', 'strict', 'alone', 'doubting', 'renewed'),
  /** Of the address it comes from, used up. */
  limit: fc.constantFrom<('none' | Limit)[]>('none', 'purchase', 'refused', 'all', 'at once'),
  /** Whether the wallet lets itself buy nothing since the first was answered. */
  buysNothing: fc.boolean(),
  key: fc.constantFrom('same', 'none', 'of no form'),
  signIn: fc.constantFrom('none', 'of no form', 'used'),
  body: fc.constantFrom('whole', 'whole', 'whole', 'cut off'),
  atOnce: fc.boolean(),
  /** Whether somebody who saw the payment has it carried out meanwhile. */
  lands: fc.boolean(),
})
type Between = typeof between extends fc.Arbitrary<infer T> ? T : never

const calm: Between = {
  ...{ kind: 'esim', first: 'HTTP', second: 'HTTP', node: 'same', limit: 'none' },
  ...{
    buysNothing: false,
    key: 'same',
    signIn: 'none',
    body: 'whole',
    atOnce: false,
    lands: false,
  },
}
const byItself = (only: Partial<Between>): [Between] => [{ ...calm, ...only }]

/** What must not depend on luck. */
const alone: Partial<Between>[] = [
  { node: 'later', kind: 'topup' },
  { node: 'paused', second: 'MCP' },
  { node: 'strict' },
  { node: 'alone', key: 'none', signIn: 'used' },
  { node: 'renewed', atOnce: true },
  { node: 'doubting' },
  { node: 'doubting', atOnce: true },
  { node: 'doubting', atOnce: true, key: 'none', second: 'MCP' },
  { atOnce: true, lands: true },
  { limit: 'purchase', second: 'MCP' },
  { limit: 'at once' },
  { limit: 'at once', second: 'MCP' },
  { buysNothing: true },
]

interface Sent {
  readonly url: string
  readonly transport: string
  readonly kind: Kind
  readonly payment: string
  readonly key?: string | undefined
  readonly signIn?: string | undefined
  readonly address?: string | undefined
  readonly isCut?: boolean | undefined
}

/** Sends the payment over a transport, and gives the answer as one text. */
async function send(sent: Sent): Promise<string> {
  const { url, address } = sent
  const from: Record<string, string> = address ? { 'x-forwarded-for': address } : {}
  const { path, body, headers } = sent.transport === 'HTTP' ? overHttp(sent) : overMcp(sent)
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
  const params = {
    name: 'buy',
    arguments: { ...offers[kind], idempotency_key: key },
    _meta: { 'x402/payment': decoded(payment), 'sign-in-with-x': signIn },
  }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/call', params }
  return { path: '/mcp', body, headers: { accept: 'application/json, text/event-stream' } }
}

const decoded = (payment: string) => JSON.parse(Buffer.from(payment, 'base64').toString())

/** What was opened for a payment. */
async function ordersOf(payment: string): Promise<string[]> {
  const { nonce } = decoded(payment).payload.authorization
  const sql = 'select order_id from payments where payment_key like $1'
  const rows = await store.query(sql, [`%:${nonce.toLowerCase()}`])
  return rows.map(({ order_id }) => order_id)
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

/** Makes happen what comes between, and gives the second request. */
async function interfere(what: Between, first: Sent, buyer: Buyer, url: string) {
  const { key, signIn, limit, node, atOnce } = what
  if (node === 'strict') await spendBudget(store, buyer)
  // What is refused to the first request is no answer to the second.
  if (what.buysNothing && !atOnce) await buyNothing(store, buyer)
  const crowd = limit === 'none' ? undefined : await limitedAddress(url, limit)
  const keys = { same: first.key, none: undefined, 'of no form': 'short' }
  const signIns = { none: async () => undefined, 'of no form': async () => 'bm9ib2R5' }
  const second: Sent = {
    ...first,
    url,
    transport: what.second,
    key: keys[key],
    signIn: await (signIn === 'used' ? usedSignIn(store, buyer) : signIns[signIn]()),
    address: crowd?.address,
    isCut: what.body === 'cut off',
  }
  return { second, letGo: crowd?.letGo }
}

type Signed = Awaited<ReturnType<Buyer['sign']>>

/** Sends a payment, lets something come between, and sends it again. */
async function twice(what: Between, buyer: Buyer, signed: Signed) {
  const { kind, node, atOnce, lands } = what
  const { header: payment } = signed
  const key = `key-${randomBytes(12).toString('hex')}`
  const old = node === 'renewed' ? await openSibling(store) : undefined
  const first: Sent = { url: old?.url ?? store.url, transport: what.first, kind, payment, key }
  const begun = send(first)
  await (atOnce ? takenIn(buyer) : begun)
  // Reverted where the store was first.
  if (lands) await callToken(store.parts, settling(signed))
  await old?.close()
  const after = old ? await openNode(old.settings, store.parts) : nodes[node]
  const { second, letGo } = await interfere(what, first, buyer, after.url)
  const answer = await send(second)
  letGo?.()
  await begun
  if (old) await after.close()
  return answer
}

test('the second of two equal paid requests gets the order, or hears that nothing is known', async () => {
  await fc.assert(
    fc.asyncProperty(between, async (what) => {
      const { kind, limit, atOnce, body, node } = what
      const buyer = await newBuyer(100_000_000n)
      const accepts = await termsOf(store.url, kind, offers[kind])
      const signed = await buyer.sign(accepts)
      const payment = signed.header
      const answer = await twice(what, buyer, signed)

      const orders = await ordersOf(payment)
      expect(orders).toHaveLength(1)
      const paid = await transfersBetween(store.parts, buyer.address, store.payTo)
      expect(paid).toHaveLength(node === 'strict' ? 2 : 1)
      expect(answer).not.toMatch(/"charged":\s*"no"/)
      expect(answer).not.toContain('"accepts"')
      // Who shows no key hears that the payment has bought something, and where that stands.
      const isOrder = answer.includes(orders[0] ?? 'none')
      const isFound = isOrder || answer.includes('"refund_state_updated_at"')
      if (isFound) expect(isOrder).toBe(what.key === 'same')
      if (!isFound) expect(answer).toMatch(/"charged":\s*"(unknown|yes)"/)
      const mustBeFound = !atOnce && body === 'whole' && limit !== 'all'
      expect(isFound || !mustBeFound, answer).toBe(true)
    }),
    // To shrink what takes seconds would take minutes.
    { numRuns: alone.length + 4, endOnFailure: true, examples: alone.map(byItself) },
  )
})

test('while the database is away, nothing is known over either transport', async () => {
  const buyer = await newBuyer()
  const { header: payment } = await buyer.sign(await termsOf(store.url, 'esim', offers.esim))
  const name = new URL(store.databaseUrl).pathname.slice(1)
  await send({ url: store.url, transport: 'HTTP', kind: 'esim', payment })
  await allowConnections(name, false)
  try {
    for (const transport of ['HTTP', 'MCP']) {
      const answer = await send({ url: store.url, transport, kind: 'esim', payment })
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
