import { rules } from '../src/lib/refusal.ts'
import { insidesIn } from '../test/stories/reading.ts'
import type { Answer } from './connection.ts'
import type { Input } from './input.ts'

export interface JudgeOptions {
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[]
}

/** PAYMENT-REQUIRED must be shorter than this, to fit the header buffers of common proxies; bytes. */
const maxDemand = 4_800

/** The fault of an answer to a whole request; undefined if it has none. */
export function judge(input: Input, answer: Answer, options: JudgeOptions): string | undefined {
  const said = [...answer.headers.values(), answer.body].join('\n')
  const secret = options.secrets.find((one) => said.includes(one))
  if (secret !== undefined) return `it holds the secret ${secret.slice(0, 6)}…`
  if (answer.status < 400) return faultOfSuccess(input, answer)
  return faultOfRefusal(input, answer)
}

/** The fault of the answers to a raw input, which may be less or more than one request. */
export function judgeRaw(text: string, { secrets }: JudgeOptions): string | undefined {
  if (secrets.some((one) => text.includes(one))) return 'it holds a secret'
  if (text !== '' && !/^HTTP\/1\.1 \d{3} /.test(text)) return 'it is no answer of HTTP'
  const statuses = [...text.matchAll(/^HTTP\/1\.1 (\d{3}) /gm)].map(([, status]) => Number(status))
  const broken = statuses.find((status) => status >= 500)
  if (broken !== undefined) return `its status is ${broken}`
  return undefined
}

const successes: readonly number[] = [200, 202, 204, 304]

function faultOfSuccess({ method }: Input, { status, headers, body }: Answer): string | undefined {
  if (isRespelt(status, headers)) return undefined
  if (!successes.includes(status)) return `its status is ${status}`
  if (status === 204 || status === 304 || method === 'HEAD') return undefined
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('application/json') && jsonOf(body) === undefined) return 'it is not JSON'
  return undefined
}

/** The redirect of an offer's page from another spelling of its id, such as lower case. */
function isRespelt(status: number, headers: Answer['headers']): boolean {
  return status === 302 && /^\/buy\/[\w-]+$/.test(headers.get('location') ?? '')
}

/** How a refusal differs from its published form (docs/agents/errors.md). */
function faultOfRefusal(input: Input, answer: Answer): string | undefined {
  const { status, headers, body } = answer
  // Not even `try_again` is right: all parts of the store work, so the input made it fail.
  if (status >= 500 && !isUndecided(input, answer)) return `its status is ${status}`
  const isOurs = headers.has('x-request-id')
  if (!isOurs)
    return headers.get('connection') === 'close' ? faultOfParser(answer) : 'no request id'
  const insides = insidesIn(body)
  if (insides !== undefined) return `it tells of our insides: ${insides}`
  const isBare = status === 401 && input.path.startsWith('/webhooks/supplier')
  if (input.method === 'HEAD' || isBare) return undefined
  return headers.get('cache-control') === 'no-store'
    ? faultOfBody(input, answer)
    : 'a cache may keep it'
}

function faultOfBody(input: Input, answer: Answer): string | undefined {
  const { status, headers, body } = answer
  if (status === 402 && headers.has('payment-required')) return faultOfDemand(answer)
  const type = headers.get('content-type') ?? ''
  if (type.startsWith('text/html')) return /<h1>/.test(body) ? undefined : 'it is no page'
  return faultOfReason(input, answer, type)
}

function faultOfReason({ path }: Input, answer: Answer, type: string): string | undefined {
  const said = jsonOf(answer.body)
  if (said === undefined) return 'it is not a JSON object'
  const faults = mandatoryHeaders(answer)
  if (faults !== undefined) return faults
  if (path.startsWith('/mcp') && 'jsonrpc' in said) return faultOfMessage(said)
  return /^\/ai(\/|$)/.test(path.split(/[?#]/, 1)[0] ?? '')
    ? faultOfDiscovery(said, type)
    : faultOfProblem(said, type, answer)
}

function mandatoryHeaders({ status, headers }: Answer): string | undefined {
  if (status === 405 && !headers.has('allow')) return 'a 405 without Allow'
  const isDeaf = status === 429 && !headers.has('retry-after')
  return isDeaf ? 'a 429 without Retry-After' : undefined
}

/** An error of JSON-RPC or MCP, before any tool was called. */
function faultOfMessage({ error }: Record<string, unknown>): string | undefined {
  const message = typeof error === 'object' && error !== null && 'message' in error && error.message
  return isSentence(message) ? undefined : 'its message is no sentence'
}

const discoveryFields = ['error', 'parameter', 'allowed', 'retryAfterSeconds', 'didYouMean']

function faultOfDiscovery(said: Record<string, unknown>, type: string): string | undefined {
  if (!type.startsWith('application/json')) return `its type is ${type}`
  const strange = Object.keys(said).find((name) => !discoveryFields.includes(name))
  if (strange !== undefined) return `it has a field ${strange}`
  return isSentence(said['error']) ? undefined : 'its error is no sentence'
}

function faultOfProblem(
  said: Record<string, unknown>,
  type: string,
  { status, headers }: Answer,
): string | undefined {
  if (!type.startsWith('application/problem+json')) return `its type is ${type}`
  const code = String(said['code'])
  const rule = Object.hasOwn(rules, code) ? rules[code as keyof typeof rules] : undefined
  if (rule === undefined) return `its code ${code} is not known`
  if (rule.status !== status || said['status'] !== status) return `${code} with status ${status}`
  if (said['title'] !== rule.title || said['retryable'] !== rule.retryable) return 'other words'
  if (!String(said['type']).endsWith(`/errors#${code}`)) return 'its type leads elsewhere'
  if (said['requestId'] !== headers.get('x-request-id')) return 'another request id'
  return isSentence(said['detail']) ? undefined : 'its detail is no sentence'
}

function faultOfDemand({ headers, body }: Answer): string | undefined {
  const header = headers.get('payment-required') ?? ''
  if (header.length >= maxDemand) return `PAYMENT-REQUIRED has ${header.length} bytes`
  const said = jsonOf(body)
  const demanded = jsonOf(Buffer.from(header, 'base64').toString())
  if (said === undefined || demanded === undefined) return 'a demand that cannot be read'
  if (said['x402Version'] !== 2) return 'another version of x402'
  const differs = Object.keys(demanded).find(
    (name) => JSON.stringify(demanded[name]) !== JSON.stringify(said[name]),
  )
  return differs === undefined ? undefined : `header and body differ in ${differs}`
}

/** Errors of the HTTP parser, before the path is known, with their statuses. They also have the field `error`. */
const parserCodes: Readonly<Record<string, number>> = {
  invalid_http: 400,
  request_timeout: 408,
  headers_too_large: 431,
}

function faultOfParser({ status, body }: Answer): string | undefined {
  // Node itself answers a request without Host.
  if (body === '' && status === 400) return undefined
  const said = jsonOf(body)
  const isKnown = said !== undefined && parserCodes[String(said['code'])] === status
  return isKnown && isSentence(said['error']) ? undefined : 'it is no refusal of the parser'
}

function isSentence(text: unknown): boolean {
  return typeof text === 'string' && /^.{6,}$/s.test(text)
}

/**
 * A payment that expires soon is no longer accepted, but may still land: until a final block is past its
 * expiry, the store cannot know.
 */
function isUndecided({ bytes }: Input, { status, body }: Answer): boolean {
  const { code, charged } = jsonOf(body) ?? {}
  const isPaid = /payment/i.test(bytes.toString('latin1'))
  return status === 503 && code === 'try_again' && charged === 'unknown' && isPaid
}

function jsonOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
