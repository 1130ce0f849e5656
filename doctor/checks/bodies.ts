import type { PaymentRequired } from '@x402/core/types'
import { type Answer, isRecord, jsonBody, tell } from '../ask.ts'
import { exampleOf, named } from '../demand.ts'
import type { Visit } from '../findings.ts'
import type { Paid } from '../operations.ts'

/** Fields by which stores name the product. */
const naming = /^(offer|product|item|sku|plan|variant)_?(id|code)?$|^id$/i

/** Invalid bodies must be refused before the payment, and never make the store fail. */
export async function checkBodies(
  visit: Visit,
  paid: Paid,
  demand: PaymentRequired,
): Promise<void> {
  if (!['POST', 'PUT', 'PATCH'].includes(paid.method)) return
  for (const [what, body] of Object.entries(wrongBodies(demand))) {
    const answer = await visit.ask(paid.path, {
      method: paid.method,
      ...jsonBody(body),
    })
    judge(visit, `${named(paid)} with ${what}`, answer)
  }
}

function judge({ note }: Visit, at: string, answer: Answer): void {
  if (answer.status === 429) note('rate_limited', at)
  else if (answer.failed !== undefined || answer.status >= 500) {
    note('broken_body_failed', at, tell(answer))
  } else if (answer.status === 402 || answer.status < 300) {
    note('broken_body_priced', at, tell(answer))
  }
}

/**
 * Bodies that the store must refuse, made from its published example. Without an example, only a body that
 * is not JSON.
 */
function wrongBodies(demand: PaymentRequired): Readonly<Record<string, string>> {
  const example = exampleOf(demand)
  const bodies: Record<string, string> = { 'a body that is no JSON': '{"' }
  const text = Object.keys(example).find((name) => typeof example[name] === 'string')
  if (text !== undefined) {
    const broken = { ...example, [text]: { doctor: true } }
    bodies[`an object for ${text}`] = JSON.stringify(broken)
  }
  const name = Object.keys(example).find((member) => naming.test(member))
  if (name !== undefined) {
    const unknown = { ...example, [name]: 'DOCTOR_NO_SUCH_THING' }
    bodies[`an unknown ${name}`] = JSON.stringify(unknown)
  }
  return bodies
}

/** No other method than the paid one may sell. */
export async function checkOtherMethods(visit: Visit, paid: Paid): Promise<void> {
  const { ask, note } = visit
  if (paid.method === 'GET') {
    const head = await ask(paid.path, { method: 'HEAD' })
    if (isFine(head)) note('head_buys', `HEAD ${paid.path}`, tell(head))
    return
  }
  const read = await ask(paid.path)
  const { json } = read
  const sold = read.headers.has('payment-response') || (isRecord(json) && 'orderId' in json)
  if (isFine(read) && sold) note('get_buys', `GET ${paid.path}`, tell(read))
}

function isFine({ status }: Answer): boolean {
  return status >= 200 && status < 300
}
