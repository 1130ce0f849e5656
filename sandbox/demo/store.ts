import * as z from 'zod'

/** The timeout of a request. It is longer than the store waits for goods, which is at most 25 s. */
const answerWithinMs = 60_000

export interface Answer<T> {
  readonly status: number
  readonly headers: Headers
  readonly body: T
}

/** An RFC 9457 problem, or the body of a 402 or of a discovery error. */
const Problem = z.object({
  code: z.string().optional(),
  detail: z.string().optional(),
  message: z.string().optional(),
  error: z.string().optional(),
})

/** A store, or another server of the sandbox, as a buyer sees it: a URL that answers JSON. */
export function storeAt(url: string) {
  return {
    url,
    /** @throws Error with the store's own reason for any status except 200 and 202 */
    get: async <T>(path: string, shape: z.ZodType<T>, headers: Record<string, string> = {}) =>
      read(await send(url, path, { headers }), `GET ${path}`, shape),
    post: async <T>(path: string, shape: z.ZodType<T>, body: unknown) =>
      read(await send(url, path, jsonPost(body)), `POST ${path}`, shape),
  }
}

export type Store = ReturnType<typeof storeAt>

/** A POST with `body` as JSON. */
export function jsonPost(body: unknown, headers: Record<string, string> = {}) {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  }
}

/** @throws Error for any status except 200 and 202, and if the body has another shape */
export async function read<T>(
  response: Response,
  call: string,
  shape: z.ZodType<T>,
): Promise<Answer<T>> {
  const { status, headers } = response
  const text = await response.text()
  const json = /^[{[]/.test(text) ? JSON.parse(text) : undefined
  if (status !== 200 && status !== 202) {
    const { code, detail, message, error } = Problem.safeParse(json).data ?? {}
    const reason = detail ?? message ?? error ?? 'no reason given'
    throw new Error(`${call} answered ${status}${code ? ` (${code})` : ''}: ${reason}`)
  }
  const parsed = shape.safeParse(json)
  if (parsed.success) return { status, headers, body: parsed.data }
  const where = parsed.error.issues[0]?.path.join('.') || 'the body'
  throw new Error(`${call} answered ${status}, but ${where} is not as documented.`)
}

/** `fetch`, whose failure tells the user what it means; by itself it says only "fetch failed". */
export async function send(url: string, path: string, init: RequestInit, fetching = fetch) {
  try {
    const signal = AbortSignal.timeout(answerWithinMs)
    return await fetching(`${url}${path}`, { signal, ...init })
  } catch (cause) {
    const isOurs = cause instanceof TypeError || cause instanceof DOMException
    if (!isOurs) throw cause
    const code = String((cause as { cause?: NodeJS.ErrnoException }).cause?.code)
    const message = /ECONNREFUSED|ENOTFOUND/.test(code)
      ? `No store at ${url}. Start it with: npm start, or name another with: npm run demo -- --store URL`
      : `The store at ${url} did not answer, or broke the connection off. Is it still running?`
    throw new Error(message, { cause })
  }
}
