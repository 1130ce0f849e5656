import type * as z from 'zod'
import { Problem } from './answers.ts'

/** The timeout of a request. It is longer than the store waits for goods, which is at most 25 s. */
const answerWithinMs = 60_000

/** The store as a buyer sees it: a URL that answers JSON. */
export interface Store {
  readonly url: string
  /** Reads an answer whose status is 200 or 202. @throws Error with the store's own reason */
  get<T>(path: string, shape: z.ZodType<T>, headers?: Record<string, string>): Promise<Answer<T>>
  post<T>(path: string, shape: z.ZodType<T>, body: unknown): Promise<Answer<T>>
}

export interface Answer<T> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

/** The store refused a request; the message contains its reason. */
export class StoreRefusal extends Error {
  readonly status: number

  constructor(message: string, status: number) {
    super(message)
    this.name = 'StoreRefusal'
    this.status = status
  }
}

export function storeAt(url: string): Store {
  return {
    url,
    async get(path, shape, headers = {}) {
      const response = await send(url, path, { headers })
      return read(response, `GET ${path}`, shape)
    },
    async post(path, shape, body) {
      const response = await send(url, path, jsonPost(body))
      return read(response, `POST ${path}`, shape)
    },
  }
}

/** A POST with `body` as JSON. */
export function jsonPost(body: unknown, headers: Record<string, string> = {}) {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(answerWithinMs),
  }
}

/** @throws StoreRefusal for any status except 200 and 202; Error if the body has another shape */
export async function read<T>(
  response: Response,
  asked: string,
  shape: z.ZodType<T>,
): Promise<Answer<T>> {
  const { status, headers } = response
  const json = jsonOf(await response.text())
  if (status !== 200 && status !== 202) throw refusalOf(asked, status, json)
  const parsed = shape.safeParse(json)
  if (parsed.success) return { status, headers, body: parsed.data }
  const [issue] = parsed.error.issues
  const where = issue?.path.join('.') || 'the body'
  throw new Error(`${asked} answered ${status}, but ${where} is not as documented.`)
}

/** An error that tells the user what a failed `fetch` means, which itself says only "fetch failed". */
export function unreachable(url: string, error: unknown): Error {
  if (error instanceof Error && error.name === 'TimeoutError') {
    return new Error(`The store at ${url} did not answer within ${answerWithinMs / 1_000} s.`)
  }
  if (!(error instanceof TypeError))
    return error instanceof Error ? error : new Error(String(error))
  const broken = /^(ECONNRESET|EPIPE|UND_ERR_SOCKET)$/.test(causeOf(error))
  const message = broken
    ? `The store at ${url} broke the connection off before it answered. Is it still running?`
    : `No store at ${url}. Start it with: npm start, or name another with: npm run demo -- --store URL`
  return new Error(message, { cause: error })
}

function causeOf({ cause }: Error): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : ''
}

async function send(url: string, path: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(`${url}${path}`, { signal: AbortSignal.timeout(answerWithinMs), ...init })
  } catch (error) {
    throw unreachable(url, error)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function refusalOf(asked: string, status: number, json: unknown): StoreRefusal {
  const { code, detail, message, error } = Problem.safeParse(json).data ?? {}
  const reason = detail ?? message ?? error ?? 'no reason given'
  const name = code === undefined ? '' : ` (${code})`
  return new StoreRefusal(`${asked} answered ${status}${name}: ${reason}`, status)
}
