import { HttpRequestError, RpcRequestError, TimeoutError } from 'viem'
import { whyUnreached } from '../../lib/connection-error.ts'
import { readText } from '../../lib/read-text.ts'

/** More than the receipt of one transaction that fills a block with logs. */
const maxAnswerBytes = 10 * 1_048_576

/** A JSON-RPC call. */
export interface RpcRequest {
  readonly method: string
  readonly params?: unknown
}

/** The URL of a node, and the headers of every call. */
export interface NodeAddress {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** A name and a password in the URL go into a header, because `fetch` rejects such a URL. */
export function nodeAddress(text: string): NodeAddress {
  const url = new URL(text)
  const headers = { 'content-type': 'application/json' }
  if (url.username === '') return { url: text, headers }
  const secret = [url.username, url.password].map(decodeURIComponent).join(':')
  url.username = ''
  url.password = ''
  const authorization = `Basic ${Buffer.from(secret).toString('base64')}`
  return { url: url.href, headers: { ...headers, authorization } }
}

/**
 * Makes one call to a node. viem's own transport does the same, but creates a second `Request` for each
 * call, and its timeout error with a stack before anything is late.
 *
 * @param maxMs from the connection to the last byte
 * @throws RpcRequestError for a refusal of the node, with its message and code
 * @throws HttpRequestError or TimeoutError if it did not answer
 */
export async function resultOf(
  node: NodeAddress,
  asked: RpcRequest,
  maxMs: number,
): Promise<unknown> {
  const { method, params } = asked
  const { url } = node
  const body = { method, params }
  const { error, result } = await answerOf(node, body, maxMs)
  if (error) throw new RpcRequestError({ body, error: error as never, url })
  return result
}

interface Answer {
  readonly result?: unknown
  readonly error?: unknown
}

async function answerOf(
  { url, headers }: NodeAddress,
  body: { method: string; params: unknown },
  maxMs: number,
): Promise<Answer> {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers,
      // Each HTTP request carries one call, so all calls can have the same id.
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
      redirect: 'error',
      signal: AbortSignal.timeout(maxMs),
    })
    return await readAnswer(response, { url, body })
  } catch (error) {
    if (error instanceof HttpRequestError) throw error
    if (isTimeout(error)) throw new TimeoutError({ body, url })
    const why = `The node cannot be asked: ${whyUnreached(error)}.`
    throw unanswered(why, { body, cause: error as Error, url })
  }
}

async function readAnswer(
  response: Response,
  { url, body }: { readonly url: string; readonly body: { method: string; params: unknown } },
): Promise<Answer> {
  const text = await readText(response, maxAnswerBytes)
  if (text === undefined) throw unanswered("The node's answer is too large.", { body, url })
  const answer = answerIn(text)
  // Some nodes refuse with a JSON-RPC error and an HTTP error status: the former says why.
  if (answer && (response.ok || isRefusal(answer.error))) return answer
  if (response.ok) throw unanswered('The node answers no JSON.', { body, url })
  const { status, statusText: details, headers } = response
  throw unanswered(`The node answers ${status}.`, { body, details, headers, status, url })
}

/** Puts the cause in the first line, which logs and health show: viem's is the same for every failure. */
function unanswered(
  why: string,
  what: ConstructorParameters<typeof HttpRequestError>[0],
): HttpRequestError {
  const error = new HttpRequestError(what)
  error.message = error.message.replace(error.shortMessage, why)
  error.shortMessage = why
  return error
}

function answerIn(text: string): Answer | undefined {
  try {
    const answer = JSON.parse(text)
    return typeof answer === 'object' && answer !== null ? answer : undefined
  } catch {
    return undefined
  }
}

function isRefusal(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown }
  return typeof code === 'number' && typeof message === 'string'
}

function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'TimeoutError'
}
