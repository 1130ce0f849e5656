import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { LocalAccount } from 'viem'
import { type Accepts, signPayment } from '../test/harness/payer.ts'
import { seeded } from '../test/model/random.ts'
import { bodyFor, type Kind, purchasePath } from '../test/stories/requests.ts'
import type { Seen } from './audit.ts'

/** A purchase to make: the buyer, the plan and the nodes. */
export interface Errand {
  readonly name: string
  readonly account: LocalAccount
  readonly plan: Plan
  readonly nodes: readonly string[]
  /** Aborted when even a patient buyer gives up. */
  readonly closing: AbortSignal
}

/** The buyer's record. Entries are only added, never removed. */
export type Log = {
  -readonly [Key in keyof Seen]: Seen[Key] extends readonly (infer Item)[] ? Item[] : Seen[Key]
}

interface Open extends Errand {
  readonly seen: Log
  readonly path: string
  readonly body: Record<string, unknown>
  readonly key: Record<string, string>
}

/** The timeout of a call. The store answers a purchase after about a second (PURCHASE_WAIT_SECONDS). */
const patienceMs = 10_000

export interface Bought {
  readonly seen: Seen
  /** Resolves when the order has ended, or the buyer has given up. */
  readonly followed: Promise<void>
}

/**
 * One purchase of a conforming client: it asks for the price, signs, sends, and without an answer sends the
 * same request again, to any node.
 */
export async function buy(errand: Errand): Promise<Bought> {
  const { plan, name, account } = errand
  const { kind } = plan
  // Who sends no key keeps count of their own purchases, and means each of them. Two may top up one number.
  const meant = plan.keyed && kind !== 'topup' ? {} : { confirmAnother: true }
  const body = { ...bodyFor(kind, plan.outcome), ...numberFor(plan), ...meant }
  const payer = account.address.toLowerCase()
  const seen = newLog(name, payer)
  const key: Record<string, string> = plan.keyed
    ? { 'idempotency-key': `chaos-${name}-${account.address}` }
    : {}
  const open: Open = { ...errand, seen, path: purchasePath(kind), body, key }
  const accepts = await terms(open)
  // Without a price there is no purchase; its ending stays "not told".
  const answer = accepts && (await pay(open, accepts))
  return { seen, followed: answer ? follow(open, answer) : Promise.resolve() }
}

export function newLog(purchase: string, payer: string): Log {
  return {
    ...{ purchase, payer, ending: 'not told' },
    ...{ nonces: [], orderIds: [], goods: [], refunded: [], refused: [], unexpected: [] },
    ...{ unanswered: 0, putOff: 0, pausedAt: [] },
  }
}

/** Each topup goes to another phone number, because no honest buyer fails again and again with the same one. */
function numberFor({ kind, random }: Plan): { readonly msisdn?: string } {
  const digits = 2_000_000 + Math.floor(random() * 3_000_000)
  return kind === 'topup' ? { msisdn: `+1202${digits}` } : {}
}

/** The terms of the purchase; undefined if the run ended before the store named them. */
async function terms(open: Open): Promise<Accepts | undefined> {
  const { path, body, seen } = open
  for (let tries = 0; !open.closing.aborted; tries += 1) {
    const called = await call(pick(open.plan.random, open.nodes), { path, body, patienceMs })
    if (isAnswer(seen, called)) {
      if (called.status === 402) return called.body.accepts?.[0] as Accepts
      noteUnexpected(seen, 'price', called)
    }
    await pause(open, tries)
  }
  return undefined
}

/** Sends the payment until it is answered. Undefined if the buyer gave up or the payment was refused. */
async function pay(open: Open, accepts: Accepts): Promise<Answer | undefined> {
  const { plan, seen } = open
  let payment = await sign(open, accepts)
  for (let tries = 0; !open.closing.aborted; tries += 1) {
    const answers = await send(open, payment)
    for (const answer of answers) noteAnswer(seen, payment.authorization.nonce, answer)
    if (answers.some(endsPaying)) return orderAmong(answers)
    if (tries + 1 >= plan.leavesAfter) {
      seen.ending = 'left'
      return undefined
    }
    if (tries === 0 && plan.signsAgain) payment = await sign(open, accepts)
    await pause(open, tries)
  }
  return undefined
}

function isOrder({ status }: Answer): boolean {
  return status === 200 || status === 202
}

/** Whether the answer shows an order, or proves that this payment buys none. */
function endsPaying(answer: Answer): boolean {
  return isOrder(answer) || answer.status === 402
}

/** Prefers an answer that shows its order: without an idempotency key, only the first one does. */
function orderAmong(answers: readonly Answer[]): Answer | undefined {
  return answers.find(({ body }) => body.orderId !== undefined) ?? answers.find(isOrder)
}

async function sign({ account, seen }: Open, accepts: Accepts) {
  const payment = await signPayment(account, accepts)
  seen.nonces.push(payment.authorization.nonce.toLowerCase())
  return payment
}

/** Makes one call, or two at the same moment. Some buyers hang up before the store can answer. */
async function send(open: Open, { header }: { header: string }): Promise<readonly Answer[]> {
  const { plan, nodes, path, body, key, seen } = open
  const first = Math.floor(plan.random() * nodes.length)
  const impatient = plan.random() < 0.2
  const waitMs = impatient ? 30 + plan.random() * 600 : patienceMs
  const headers = { 'payment-signature': header, ...key }
  const calls = (plan.twice ? [first, first + 1] : [first]).map((at) =>
    call(nodes[at % nodes.length] ?? '', { path, body, headers, patienceMs: waitMs }),
  )
  return (await Promise.all(calls)).filter((called) => isAnswer(seen, called))
}

/** Reads the order until it has ended, with the access token and the key, if the buyer has them. */
async function follow(open: Open, { body: first }: Answer): Promise<void> {
  const { seen, plan, closing, key } = open
  if (seen.ending !== 'not told') return
  // A buyer who lost the first answer and has no key learns that they paid, but not for which order.
  if (plan.leavesAfter < 3 || first.orderId === undefined) {
    seen.ending = 'left'
    return
  }
  const token = first.accessToken
  const headers = token === undefined ? key : { ...key, authorization: `Bearer ${token}` }
  const path = `/api/catalog/orders/${first.orderId}`
  for (let tries = 0; !closing.aborted && seen.ending === 'not told'; tries += 1) {
    await pause(open, tries + 2)
    const called = await call(pick(plan.random, open.nodes), { path, headers, patienceMs })
    if (isAnswer(seen, called)) noteReading(seen, called)
  }
}

/** Exponential backoff with jitter, at most 2 s. */
async function pause({ plan, closing }: Open, tries: number): Promise<void> {
  const maxMs = Math.min(2_000, 100 * 2 ** Math.min(tries, 5))
  await delay(maxMs * (0.5 + plan.random() / 2), undefined, { signal: closing }).catch(() => {})
}

/** Records the result of a call. Returns whether it is an answer to read. */
function isAnswer(seen: Log, called: Called): called is Answer {
  const code = notNowOf(called)
  if (called.type === 'none') seen.unanswered += 1
  else if (code === undefined) return true
  else seen.putOff += 1
  if (code === 'store_paused') seen.pausedAt.push(Date.now())
  return false
}

function noteAnswer(seen: Log, nonce: string, answer: Answer): void {
  const { code, detail } = answer.body
  if (isOrder(answer)) noteOrder(seen, answer)
  else if (answer.status === 402) {
    seen.refused.push({ nonce: nonce.toLowerCase(), answer: `402 ${code ?? detail ?? ''}` })
    if (seen.ending === 'not told') seen.ending = 'unpaid'
  } else noteUnexpected(seen, 'purchase', answer)
}

function noteReading(seen: Log, answer: Answer): void {
  if (answer.status === 200) noteOrder(seen, answer)
  else noteUnexpected(seen, 'order', answer)
}

function noteUnexpected(seen: Log, what: string, { status, body: { code, detail } }: Answer): void {
  seen.unexpected.push(`${what}: ${status} ${code ?? ''} ${detail ?? ''}`)
}

/** Equal goods of an order are kept once; different goods for one order are a finding. */
function noteOrder(seen: Log, { body }: Answer): void {
  const { orderId, orders: [order] = [], refund_state: refund } = body
  if (orderId === undefined || order === undefined) return
  if (!seen.orderIds.includes(orderId)) seen.orderIds.push(orderId)
  const result = JSON.stringify(order.result ?? null)
  const isKnown = seen.goods.some((one) => one.orderId === orderId && one.result === result)
  if (result !== 'null' && !isKnown) seen.goods.push({ orderId, result })
  if (refund === 'REFUNDED' && !seen.refunded.includes(orderId)) seen.refunded.push(orderId)
  seen.ending = endingOf(order.state, refund) ?? seen.ending
}

function endingOf(state: string, refund: string | null | undefined): Seen['ending'] | undefined {
  if (state === 'FULFILLED') return 'delivered'
  if (refund === 'REFUNDED') return 'refunded'
  return state === 'PAYMENT_FAILED' ? 'unpaid' : undefined
}

/** The result of a call. Without an answer, the caller does not know what the store did. */
type Called = Answer | { readonly type: 'none' }

interface Answer {
  readonly type: 'answer'
  readonly status: number
  readonly body: Body
}

/** The parts of the store's answers that a buyer reads. */
interface Body {
  readonly orderId?: string
  readonly accessToken?: string
  readonly orders?: readonly { readonly state: string; readonly result?: unknown }[]
  readonly refund_state?: string | null
  readonly accepts?: readonly unknown[]
  readonly code?: string
  readonly detail?: string
}

/**
 * The refusals after which a buyer repeats the call, with their statuses: a running store that cannot
 * answer now, or a request that came too late because this process was blocked.
 */
const notNow = { try_again: 503, store_paused: 503, request_timeout: 408 } as const

/** The code of such a refusal; undefined for every other result. */
function notNowOf(called: Called): keyof typeof notNow | undefined {
  if (called.type === 'none') return undefined
  const { status, body } = called
  const codes = Object.keys(notNow) as (keyof typeof notNow)[]
  return codes.find((code) => code === body.code && notNow[code] === status)
}

interface Call {
  readonly path: string
  readonly body?: unknown
  readonly headers?: Record<string, string>
  readonly patienceMs: number
}

/**
 * Calls a node. A killed node, a broken connection and the end of the buyer's patience all count as no
 * answer. Each call comes from an address of its own, so that no rate limit applies.
 */
export async function call(nodeUrl: string, { path, body, headers, patienceMs }: Call) {
  try {
    const response = await fetch(`${nodeUrl}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        'x-forwarded-for': [10, ...randomBytes(3)].join('.'),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(patienceMs),
    })
    return { type: 'answer', status: response.status, body: await read(response) } satisfies Called
  } catch {
    return { type: 'none' } satisfies Called
  }
}

async function read(response: Response): Promise<Body> {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return isJson ? (JSON.parse(text) as Body) : { detail: text.slice(0, 300) }
}

/** What a buyer does in one purchase. Drawn from the seed before the purchase begins. */
export interface Plan {
  readonly kind: Kind
  /** The test offer of the supplier, by its outcome. */
  readonly outcome: string
  /** Sends an `Idempotency-Key`. */
  readonly keyed: boolean
  /** Sends the request twice at the same moment, to two nodes if there are two. */
  readonly twice: boolean
  /** Signs a new payment under the same key if the first answer is lost, as an agent does that restarted. */
  readonly signsAgain: boolean
  /** The number of calls after which the buyer gives up for good. */
  readonly leavesAfter: number
  /** Decides all further choices: nodes, pauses, patience. */
  readonly random: () => number
}

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']

/** The outcomes of the supplier's test offers, with their shares in percent. */
const outcomes = { OK: 42, LOST: 10, SLOW: 10, FAIL: 13, DECLINED: 11, LATE: 7, HANG: 7 }

/** The plan depends on seed, buyer and count alone. */
export function planOf(seed: number, buyer: number, count: number): Plan {
  const random = seeded(Math.imul(seed, 1_000_003) ^ Math.imul(buyer + 1, 7_919) ^ (count << 12))
  const keyed = random() < 0.8
  return {
    kind: pick(random, kinds),
    outcome: weighted(random, outcomes),
    keyed,
    twice: random() < 0.15,
    signsAgain: keyed && random() < 0.15,
    leavesAfter: random() < 0.1 ? 1 + Math.floor(random() * 3) : Number.POSITIVE_INFINITY,
    random,
  }
}

export function pick<T>(random: () => number, from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)]
  if (picked === undefined) throw new Error('There is nothing to pick from.')
  return picked
}

/** One of the names, by their shares in percent. */
export function weighted<T extends string>(
  random: () => number,
  shares: Readonly<Record<T, number>>,
): T {
  const tickets = (Object.keys(shares) as T[]).flatMap((name) => Array<T>(shares[name]).fill(name))
  return pick(random, tickets)
}
