import type { NodeSettings } from '../test/harness/node.ts'
import { insidesIn } from '../test/stories/reading.ts'
import type { Input } from './inputs.ts'
import type { Answer } from './send.ts'

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
