import { once } from 'node:events'
import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestOptions,
  request,
} from 'node:http'
import { text } from 'node:stream/consumers'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { insidesIn } from '../test/harness/insides.ts'
import type { NodeSettings } from '../test/harness/node.ts'
import { signPayment } from '../test/harness/payer.ts'
import { bodyFor, get, purchasePath, termsOf } from '../test/stories/requests.ts'
import { bytesOf, changed, type Input } from './inputs.ts'

/** No input may keep the main thread busy for longer than this; milliseconds. */
const maxThreadMs = 20
/** A signed payment is checked with the chain and the database, in many short turns of the main thread. */
const maxPaymentMs = 60
/** Without an answer within this time, the store counts as hanging. */
const maxAnswerMs = 30_000

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Look {
  /** CPU time of the store's main thread so far; milliseconds. */
  readonly threadMs: number
  /** A log line with a secret. */
  readonly badLine?: string | undefined
}

/** The store under test. */
export interface Target {
  /** Signs what has to be signed, and returns what sends the input. */
  readonly prepare: (input: Input) => Promise<() => Promise<Answer>>
  readonly look: () => Promise<Look>
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[]
}

/** Sends one input, and judges the answer and what it cost. The fault is undefined if nothing is wrong. */
export async function tryInput(target: Target, input: Input) {
  const { answer, tookMs, badLine } = await measure(target, input)
  const { status } = answer
  const most = input.payment === undefined ? maxThreadMs : maxPaymentMs
  const threadMs = tookMs > most ? Math.min(tookMs, await leastMs(target, input)) : tookMs
  const slow = threadMs > most && `it takes ${Math.round(threadMs)} ms of the main thread`
  const leak = badLine && `the log has a secret: ${badLine}`
  const fault = faultOf(input, answer, target.secrets) || leak || slow || undefined
  return { status, threadMs, fault }
}

async function measure({ prepare, look }: Target, input: Input) {
  const send = await prepare(input)
  const before = await look()
  const answer = await send()
  const { threadMs, badLine } = await look()
  return { answer, badLine, tookMs: threadMs - before.threadMs }
}

/**
 * The least of three more times, so that garbage of others or a look of the sweep does not count. Each asks for another
 * page, because the store keeps answers for a while.
 */
async function leastMs(target: Target, input: Input): Promise<number> {
  const times: number[] = []
  const page = input.path === '/search' ? 'page' : 'offset'
  const others = input.query.filter(([name]) => name !== page)
  for (const turn of [41, 42, 43]) {
    const query = input.method === 'GET' ? [...others, [page, `${turn}`] as const] : input.query
    times.push((await measure(target, { ...input, query })).tookMs)
  }
  return Math.min(...times)
}

/** Sends inputs over one connection, each as another client, so that no rate limit applies. */
export function createSender({ url, port }: { readonly url: string; readonly port: number }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const wallet = privateKeyToAccount(generatePrivateKey())
  let count = 0

  async function headersOf({ headers, body, payment }: Input): Promise<Record<string, string>> {
    const isJson = body !== undefined && /^[{["]/.test(body.text)
    const type = isJson ? 'application/json' : 'application/x-www-form-urlencoded'
    return {
      ...(body && { 'content-type': type }),
      ...(body?.coding === 'gzip' && { 'content-encoding': 'gzip' }),
      ...headers,
      ...(payment && { 'payment-signature': await signed(payment) }),
    }
  }

  async function signed({ kind, changes }: NonNullable<Input['payment']>): Promise<string> {
    const { header } = await signPayment(wallet, await termsOf(url, kind, bodyFor(kind, 'OK')))
    const payload: unknown = JSON.parse(Buffer.from(header, 'base64').toString())
    return Buffer.from(JSON.stringify(changed(payload, changes))).toString('base64')
  }

  async function addressOf({ kind, bit, tail }: NonNullable<Input['sealed']>): Promise<string> {
    const fields = new URLSearchParams(bodyFor(kind, 'OK') as Record<string, string>)
    const { body } = await get(url, `${purchasePath(kind)}?${fields}`)
    const bytes = Buffer.from(new URL(body.payableUrl).pathname.slice('/x402/'.length))
    if (bit !== undefined) {
      const at = (bit >> 3) % bytes.length
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7))
    }
    return `/x402/${encodeURIComponent(bytes.toString('latin1'))}${tail}`
  }

  return {
    async prepare(input: Input) {
      count += 1
      const client = [10, count >> 16, count >> 8, count].map((part) => part & 255).join('.')
      const headers = { ...(await headersOf(input)), 'x-forwarded-for': client }
      const query = input.query.map(([name, value]) => `${name}=${value}`).join('&')
      const called = input.sealed === undefined ? input.path : await addressOf(input.sealed)
      const path = query === '' ? called : `${called}?${query}`
      const { method, body } = input
      const options = { host: '127.0.0.1', port, method, path, headers, agent }
      return () => answerTo(options, body && bytesOf(body))
    },
    close: () => agent.destroy(),
  }
}

async function answerTo(options: RequestOptions, body: Buffer | undefined): Promise<Answer> {
  const outgoing = request({ ...options, signal: AbortSignal.timeout(maxAnswerMs) })
  outgoing.end(body)
  const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
  const { statusCode: status = 0, headers } = response
  return { status, headers, body: await text(response) }
}

/** What is wrong with an answer; undefined if it is one that the store may give to anything. */
export function faultOf(
  { payment }: Pick<Input, 'payment'>,
  { status, headers, body }: Answer,
  secrets: readonly string[],
): string | undefined {
  const said = [...Object.values(headers), body].join('\n')
  if (secrets.some((secret) => said.includes(secret))) return 'the answer has a secret'
  // Every part works, so not even "try again" is right, except for a payment that could still land.
  const isUndecided = status === 503 && payment !== undefined && body.includes('"unknown"')
  if (status >= 500 && !isUndecided) return `the status is ${status}: ${body.slice(0, 300)}`
  const inside = status < 400 ? undefined : insidesIn(body)
  if (inside !== undefined) return `the answer tells of our insides: ${inside}`
  return faultOfJson(status, headers, body)
}

function faultOfJson(status: number, headers: Answer['headers'], body: string): string | undefined {
  const [type] = (headers['content-type'] ?? '').split(';')
  const isProblem = type === 'application/problem+json'
  if (body === '' || (type !== 'application/json' && !isProblem)) return undefined
  try {
    const { status: inBody, requestId, code, detail } = Object(JSON.parse(body))
    // An error of the HTTP parser comes before the request has an id.
    const isSame = requestId === (headers['x-request-id'] ?? requestId)
    const isWhole = !isProblem || (inBody === status && isSame && code && detail)
    return isWhole ? undefined : `the problem is not whole: ${body.slice(0, 300)}`
  } catch {
    return `the answer is no JSON: ${body.slice(0, 300)}`
  }
}

/** Texts that no answer and no log line may contain. */
export function secretsOf({ supplierKey, webhook, gasKey, refundKey }: NodeSettings): string[] {
  return [supplierKey, webhook.value, gasKey.slice(2), refundKey.slice(2)]
}
