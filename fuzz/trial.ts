import { insidesIn } from '../test/harness/insides.ts'
import type { NodeSettings } from '../test/harness/node.ts'
import type { Input } from './inputs.ts'
import type { Answer } from './send.ts'

/** No input may keep the main thread busy for longer than this; milliseconds. */
const maxThreadMs = 20
/** A signed payment is checked with the chain and the database, in many short turns of the main thread. */
const maxPaymentMs = 60

/** The store under test. */
export interface Target {
  readonly send: (input: Input) => Promise<Answer>
  /** CPU time of its main thread so far; milliseconds. */
  readonly threadMs: () => Promise<number>
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[]
  /** Log lines with a secret. */
  readonly badLines: readonly string[]
}

/** Sends one input, and judges the answer and what it cost. The fault is undefined if nothing is wrong. */
export async function tryInput(target: Target, input: Input) {
  const { answer, tookMs } = await measure(target, input)
  const { status } = answer
  const most = input.payment === undefined ? maxThreadMs : maxPaymentMs
  const threadMs = tookMs > most ? Math.min(tookMs, await leastMs(target, input)) : tookMs
  const slow =
    threadMs > most ? `it takes ${Math.round(threadMs)} ms of the main thread` : undefined
  const [line] = target.badLines
  const leak = line && `the log has a secret: ${line}`
  const fault = faultOf(input, answer, target.secrets) ?? leak ?? slow
  return { status, threadMs, fault }
}

async function measure({ send, threadMs }: Target, input: Input) {
  const before = await threadMs()
  const answer = await send(input)
  return { answer, tookMs: (await threadMs()) - before }
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
  if (body === '' || (type !== 'application/json' && type !== 'application/problem+json'))
    return undefined
  const json = jsonOf(body)
  if (json === undefined) return `the answer is no JSON: ${body.slice(0, 300)}`
  if (type === 'application/json') return undefined
  const { status: inBody, requestId, code, detail } = json
  // An error of the HTTP parser comes before the request has an id.
  const isSame = requestId === (headers['x-request-id'] ?? requestId)
  const isWhole = inBody === status && isSame && code && detail
  return isWhole ? undefined : `the problem is not whole: ${body.slice(0, 300)}`
}

function jsonOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return Object(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Texts that no answer and no log line may contain. */
export function secretsOf({ supplierKey, webhook, gasKey, refundKey }: NodeSettings): string[] {
  return [supplierKey, webhook.value, gasKey.slice(2), refundKey.slice(2)]
}
