import { setTimeout as sleep } from 'node:timers/promises'
import type { Finding } from './faults.ts'

/** The context of every check. */
export interface Visit {
  /** The origin at which the store is examined. */
  readonly origin: string
  /** The origin under which the store is published; usually the same. */
  readonly publicOrigin: string
  readonly ask: Ask
  readonly findings: Finding[]
}

/** Access to the metrics; no token is needed if they are open to this machine. */
export interface MetricsAccess {
  readonly token: string | undefined
}

/** The answer to one request, or the reason why there is none. */
export interface Answer {
  /** 0 if there is no answer. */
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined if it is not JSON. */
  readonly json: unknown
  /** Why there is no answer. */
  readonly failed?: string
}

interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body?: string
}

/** Requests a path of the store. Does not throw for a failed request. */
export type Ask = (path: string, call?: Call) => Promise<Answer>

/** The store is not trusted: it may be slow, send without end, or redirect elsewhere. */
const limits = {
  timeoutMs: 15_000,
  maxBytes: 2_000_000,
  maxRequests: 400,
  /** How long the doctor waits in total for the Retry-After of answers with 429. */
  maxWaitMs: 120_000,
}

/**
 * Requests from one origin only. Redirects are not followed, because clients do not follow them with a
 * payment.
 *
 * @throws Error for a URL of another origin, which is a defect of the doctor
 */
export function askerOf(origin: string, bounds = limits): Ask {
  let sent = 0
  let patience = bounds.maxWaitMs
  const ask = async (url: URL, call: Call): Promise<Answer> => {
    sent += 1
    const { maxRequests } = bounds
    if (sent > maxRequests) return unanswered(`after ${maxRequests} requests the doctor stops`)
    const answer = await askOnce(url, call, bounds)
    const waitMs = Number(answer.headers.get('retry-after') ?? Number.NaN) * 1_000
    if (answer.status !== 429 || !(waitMs >= 0 && waitMs <= patience)) return answer
    patience -= waitMs
    await sleep(waitMs)
    return ask(url, call)
  }
  return async (path, call = {}) => {
    // Appended, because as a reference `//elsewhere.example/buy` is a URL of another origin.
    const url = new URL(origin + path)
    if (url.origin !== origin) throw new Error(`The doctor does not go to ${url.origin}.`)
    return ask(url, call)
  }
}

async function askOnce(
  url: URL,
  { method = 'GET', headers = {}, body }: Call,
  { timeoutMs, maxBytes }: typeof limits,
): Promise<Answer> {
  try {
    const type = body === undefined ? {} : { 'content-type': 'application/json' }
    const response = await fetch(url, {
      method,
      headers: { 'user-agent': 'kiosk402-doctor', ...type, ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    })
    const text = await boundedText(response, maxBytes)
    if (text === undefined) return unanswered(`the answer is longer than ${maxBytes} bytes`)
    return { status: response.status, headers: response.headers, text, json: jsonOf(text) }
  } catch (error) {
    // `fetch failed` alone says nothing.
    const cause = error instanceof Error ? (error.cause ?? error) : error
    return unanswered(cause instanceof Error ? cause.message : String(cause))
  }
}

/** The body as text; undefined once it exceeds the limit, without reading the rest. */
async function boundedText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.byteLength
    if (length > maxBytes) return undefined
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function unanswered(failed: string): Answer {
  return { status: 0, headers: new Headers(), text: '', json: undefined, failed }
}

/** A short text about an answer: its status, the store's error message, and the target of a redirect. */
export function tell({ status, failed, json, headers }: Answer): string {
  if (failed !== undefined) return failed
  const { detail, error, message } = recordAt(json)
  const said = [status, detail ?? error ?? message, headers.get('location')]
  return said.filter((part) => ['string', 'number'].includes(typeof part)).join(' ')
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The record at a path of nested records; an empty one if there is none. */
export function recordAt(value: unknown, ...names: string[]): Readonly<Record<string, unknown>> {
  let current: unknown = value
  for (const name of names) current = isRecord(current) ? current[name] : undefined
  return isRecord(current) ? current : {}
}
