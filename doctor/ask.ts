import { setTimeout as sleep } from 'node:timers/promises'

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

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Requests a path, or a full URL, of the store. Does not throw for a failed request. */
export type Ask = (pathOrUrl: string, question?: Question) => Promise<Answer>

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
  let asked = 0
  let patience = bounds.maxWaitMs
  const ask = async (url: URL, question: Question): Promise<Answer> => {
    asked += 1
    const { maxRequests } = bounds
    if (asked > maxRequests) return nothing(`after ${maxRequests} requests the doctor stops`)
    const answer = await askOnce(url, question, bounds)
    const wait = answer.status === 429 ? retryAfterMs(answer) : undefined
    if (wait === undefined || wait > patience) return answer
    patience -= wait
    await sleep(wait)
    return ask(url, question)
  }
  return async (pathOrUrl, question = {}) => {
    // Appended, because as a reference `//elsewhere.example/buy` is a URL of another origin.
    const url = new URL(pathOrUrl.startsWith('/') ? origin + pathOrUrl : pathOrUrl)
    if (url.origin !== origin) throw new Error(`The doctor does not go to ${url.origin}.`)
    return ask(url, question)
  }
}

async function askOnce(
  url: URL,
  { method = 'GET', headers = {}, body }: Question,
  { timeoutMs, maxBytes }: typeof limits,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method,
      headers: { 'user-agent': 'kiosk402-doctor', ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
      ...(body === undefined ? {} : { body }),
    })
    const text = await boundedText(response, maxBytes)
    if (text === undefined) return nothing(`the answer is longer than ${maxBytes} bytes`)
    return { status: response.status, headers: response.headers, text, json: jsonOf(text) }
  } catch (error) {
    return nothing(reasonOf(error))
  }
}

/** The Retry-After of an answer in milliseconds; undefined if it is not a number of seconds. */
function retryAfterMs({ headers }: Answer): number | undefined {
  const said = headers.get('retry-after')
  const seconds = said === null || said === '' ? Number.NaN : Number(said)
  return seconds >= 0 ? seconds * 1_000 : undefined
}

/** A JSON body with its content type. */
export function jsonBody(body: string): Pick<Question, 'body' | 'headers'> {
  return { body, headers: { 'content-type': 'application/json' } }
}

/** A short text about an answer: its status, the store's error message, and the target of a redirect. */
export function tell({ status, failed, json, headers }: Answer): string {
  if (failed !== undefined) return failed
  const location = headers.get('location')
  const said = isRecord(json) ? (json['detail'] ?? json['error'] ?? json['message']) : undefined
  return [status, typeof said === 'string' ? said : undefined, location ?? undefined]
    .filter((part) => part !== undefined)
    .join(' ')
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

/** The body as text; undefined once it exceeds the limit, without reading the rest. */
async function boundedText({ body }: Response, maxBytes: number): Promise<string | undefined> {
  if (body === null) return ''
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
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

function nothing(failed: string): Answer {
  return { status: 0, headers: new Headers(), text: '', json: undefined, failed }
}

/** The message of the cause, if there is one: `fetch failed` alone says nothing. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message ? cause.message : error.message
}
