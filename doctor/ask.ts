import { setTimeout as sleep } from 'node:timers/promises'

/** What came back for one request, or why nothing did. */
export interface Answer {
  /** 0 when nothing came. */
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: unknown
  /** Why nothing came. */
  readonly failed?: string
}

export interface Question {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Asks the store at a path, or at a full URL of it. Never throws for what the store does. */
export type Ask = (pathOrUrl: string, question?: Question) => Promise<Answer>

/** The other side is a stranger: it may be slow, endless, or lead elsewhere. */
const limits = {
  timeoutMs: 15_000,
  maxBytes: 2_000_000,
  maxRequests: 400,
  /** A store that limits calls says when to come again; so long is waited in all. */
  maxWaitMs: 120_000,
}

/**
 * Asks one origin and nobody else; redirects are not followed, because a payment would not be.
 *
 * @throws Error when asked to go to another origin, which is a defect of the doctor
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
    const url = new URL(pathOrUrl, origin)
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

/** Milliseconds until the store wants to be asked again; undefined when it does not say. */
function retryAfterMs({ headers }: Answer): number | undefined {
  const said = headers.get('retry-after')
  const seconds = said === null || said === '' ? Number.NaN : Number(said)
  return seconds >= 0 ? seconds * 1_000 : undefined
}

/** A body and its type. */
export function jsonBody(body: string): Pick<Question, 'body' | 'headers'> {
  return { body, headers: { 'content-type': 'application/json' } }
}

/** A short text about what came: its status and, where it is one, the store's own words. */
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

/** The record at a name of a record, or nothing. */
export function recordAt(value: unknown, ...names: string[]): Readonly<Record<string, unknown>> {
  let current: unknown = value
  for (const name of names) current = isRecord(current) ? current[name] : undefined
  return isRecord(current) ? current : {}
}

/** The text, or nothing when it is longer than allowed; what is too long is not read to its end. */
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

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { cause } = error
  return cause instanceof Error && cause.message ? cause.message : error.message
}
