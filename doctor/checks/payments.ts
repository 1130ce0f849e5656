import type { PaymentRequired } from '@x402/core/types'
import { type Answer, jsonBody, tell } from '../ask.ts'
import { exampleOf, named } from '../demand.ts'
import type { FaultCode } from '../faults.ts'
import type { Visit } from '../findings.ts'
import type { Paid } from '../operations.ts'

/** Unreadable values of PAYMENT-SIGNATURE; none can be a payment. */
const unreadable = {
  'no base64': '%%%',
  'base64 of no JSON': Buffer.from('doctor').toString('base64'),
  'an empty object': Buffer.from('{}').toString('base64'),
  'an empty payload': Buffer.from('{"x402Version":2,"accepted":{},"payload":{}}').toString(
    'base64',
  ),
}

/** An unreadable PAYMENT-SIGNATURE must be answered with 402, and never make the store fail. */
export async function checkUnreadablePayments(
  visit: Visit,
  paid: Paid,
  demand: PaymentRequired | undefined,
): Promise<void> {
  const { note } = visit
  const example = demand === undefined ? undefined : await acceptedExample(visit, paid, demand)
  for (const [what, header] of Object.entries(unreadable)) {
    const at = `${named(paid)} with a PAYMENT-SIGNATURE of ${what}`
    const answer = await visit.ask(paid.path, {
      method: paid.method,
      ...(example === undefined ? {} : { body: example }),
      headers: { 'content-type': 'application/json', 'payment-signature': header },
    })
    const fault = faultOf(answer)
    // Without a body that is known to be good, the refusal may be about the empty body.
    if (fault === 'bad_payment_refused' && example === undefined) continue
    if (fault !== undefined) note(fault, at, tell(answer))
  }
}

function faultOf({ status, failed }: Answer): FaultCode | undefined {
  if (status === 402) return undefined
  if (status === 429) return 'rate_limited'
  if (failed !== undefined || status >= 500) return 'bad_payment_failed'
  return status < 300 ? 'bad_payment_sold' : 'bad_payment_refused'
}

/** The published example, if the store names a price for it. */
async function acceptedExample(
  { ask, note }: Visit,
  paid: Paid,
  demand: PaymentRequired,
): Promise<string | undefined> {
  const example = exampleOf(demand)
  if (paid.method === 'GET' || Object.keys(example).length === 0) return undefined
  const body = JSON.stringify(example)
  const answer = await ask(paid.path, { method: paid.method, ...jsonBody(body) })
  if (answer.status === 402) return body
  note('example_refused', `${named(paid)} with ${body}`, tell(answer))
  return undefined
}
