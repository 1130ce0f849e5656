import { randomBytes, randomInt } from 'node:crypto'
import type { Accepts, SignOptions } from '../harness/payer.ts'
import type { Buyer } from './buyer.ts'
import type { Store } from './store.ts'

export type Kind = 'voucher' | 'topup' | 'esim'

/**
 * The body that buys a test offer of each kind. A topup is for a number of its own, because three failed orders for one
 * receiver, or one within two minutes, keep everybody who shares the store from buying for it.
 */
export function bodyFor(kind: Kind, outcome: string): Record<string, unknown> {
  const offerId = `TEST-${kind.toUpperCase()}-${outcome}`
  if (kind === 'voucher') return { offerId, firstName: 'Ada', lastName: 'Lovelace' }
  if (kind === 'esim') return { offerId }
  return { offerId, msisdn: newNumber() }
}

export function newNumber(): string {
  return `+1202${randomInt(2_000_000, 9_999_999)}`
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  // Answers are looked at field by field; what they must be is what each story says.
  // biome-ignore lint/suspicious/noExplicitAny: the shape of an answer is what is tested
  readonly body: any
}

export async function post(
  url: string,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...fromAnywhere(), ...headers },
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return answerOf(response)
}

export async function get(
  url: string,
  path: string,
  headers: Record<string, string> = {},
): Promise<Answer> {
  return answerOf(await fetch(`${url}${path}`, { headers: { ...fromAnywhere(), ...headers } }))
}

export function purchasePath(kind: Kind): string {
  return `/api/catalog/${kind}s/purchase/info`
}

/**
 * What the store asks for this purchase. On a busy machine its parts can be late, and then it sells nothing for a
 * moment, which no story about something else need know.
 */
export async function termsOf(url: string, kind: Kind, body: unknown): Promise<Accepts> {
  const asked = await eventually(
    async () => {
      const { status, body: answer } = await post(url, purchasePath(kind), body)
      const isPaused = answer.code === 'store_paused'
      return { status, answer, ...(isPaused && { parts: (await get(url, '/readyz')).body }) }
    },
    ({ parts }) => parts === undefined,
  )
  if (asked.status !== 402) {
    throw new Error(`Expected 402 and got ${asked.status}: ${JSON.stringify(asked.answer)}`)
  }
  return asked.answer.accepts[0]
}

/** Asks for the price, signs, and buys, however often the buyer has bought the same. */
export async function buy(
  { url }: { readonly url: string },
  buyer: Buyer,
  kind: Kind,
  wanted: Record<string, unknown>,
  { headers = {}, ...sign }: SignOptions & { readonly headers?: Record<string, string> } = {},
) {
  const body = { confirmAnother: true, ...wanted }
  const accepts = await termsOf(url, kind, body)
  const payment = await buyer.sign(accepts, sign)
  const send = (more: Record<string, string> = {}, otherBody: unknown = body) =>
    post(url, purchasePath(kind), otherBody, {
      'payment-signature': payment.header,
      ...headers,
      ...more,
    })
  return { accepts, payment, send, answer: await send() }
}

/**
 * Buys, and waits until the goods are there: on a busy machine that can be after the store has answered with 202.
 * Gives the order with its goods.
 */
export async function buyDelivered(
  store: { readonly url: string },
  buyer: Buyer,
  kind: Kind,
  options?: Parameters<typeof buy>[4],
) {
  const bought = await buy(store, buyer, kind, bodyFor(kind, 'OK'), options)
  const { status, body } = bought.answer
  if (status !== 200 && status !== 202) throw new Error(`${status}: ${JSON.stringify(body)}`)
  const order = await until(
    store,
    body.orderId,
    ({ orders: [{ state }] }) => state === 'FULFILLED',
    { authorization: `Bearer ${body.accessToken}` },
  )
  return { ...bought, order }
}

/** Has the supplier deliver or fail an order. One of a `HANG` offer ends in no other way. */
export function supplierSays(
  { admin }: Pick<Store, 'admin'>,
  orderId: string,
  status: 'DONE' | 'FAILED',
): Promise<unknown> {
  return admin('/purchases', { transactionId: orderId.replace('_', ''), status })
}

/** Reads the order again and again until the store shows it and the test is met. */
export function until(
  { url }: { readonly url: string },
  orderId: string,
  met: (body: Answer['body']) => boolean,
  headers: Record<string, string> = {},
): Promise<Answer['body']> {
  const read = () => get(url, `/api/catalog/orders/${orderId}`, headers)
  const isMet = ({ status, body }: Answer) => status === 200 && met(body)
  return eventually(read, isMet).then(({ body }) => body)
}

/**
 * Only ends what hangs, soon enough to say what was seen last. A purchase that the supplier declined, and whose
 * answer came too late, is given up after 135 s and paid back 15 s later.
 */
const eventuallyMs = 290_000

/** Looks again and again until the test is met, and fails with what was seen last. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  met: (seen: T) => boolean,
): Promise<T> {
  const deadline = performance.now() + eventuallyMs
  for (;;) {
    const seen = await look()
    if (isMet(met, seen)) return seen
    if (performance.now() > deadline) throw new Error(`Still ${JSON.stringify(seen)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** A test of what was seen fails with what was seen, also where it expected another shape. */
function isMet<T>(met: (seen: T) => boolean, seen: T): boolean {
  try {
    return met(seen)
  } catch (error) {
    throw new Error(`Cannot tell of ${JSON.stringify(seen)}`, { cause: error })
  }
}

/**
 * A store that trusts a proxy (TRUSTED_PROXIES) counts every request of a story for another client,
 * so that stories which poll much do not meet the rate limit. Any other store does not look at it.
 */
export function fromAnywhere(): Record<string, string> {
  return { 'x-forwarded-for': [10, ...randomBytes(3)].join('.') }
}

export async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text()
  const isJson = /json/.test(response.headers.get('content-type') ?? '')
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text ? JSON.parse(text) : text,
  }
}

export type Call = (path: string, init?: RequestInit) => Promise<Answer>

/** Calls the store, each time from another client address. */
export function callerFor(store: { readonly url: string }): Call {
  return async (path, { headers = {}, ...init } = {}) => {
    const sent = { ...fromAnywhere(), ...(headers as Record<string, string>) }
    return answerOf(await fetch(`${store.url}${path}`, { ...init, headers: sent }))
  }
}
