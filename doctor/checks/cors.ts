import { tell } from '../ask.ts'
import { named } from '../demand.ts'
import type { Visit } from '../findings.ts'
import type { Paid } from '../operations.ts'

const origin = 'https://page.doctor.example'

/** Headers that stock clients and careful buyers send, including the last one, which clients send by mistake. */
const requestHeaders = [
  'content-type',
  'payment-signature',
  'sign-in-with-x',
  'idempotency-key',
  'access-control-expose-headers',
]
const answerHeaders = ['payment-required', 'payment-response']

/** Whether a page of another origin can buy: the preflight, and the headers of the 402 that it may read. */
export async function checkCors(visit: Visit, paid: Paid): Promise<void> {
  await checkPreflight(visit, paid)
  const answer = await visit.ask(paid.path, { method: paid.method, headers: { origin } })
  const { headers } = answer
  if (answer.status !== 402) return
  const exposed = listOf(headers.get('access-control-expose-headers'))
  const missing = answerHeaders.filter((name) => !exposed.includes(name) && !exposed.includes('*'))
  if (!isAllowed(headers) || missing.length > 0) {
    const seen = isAllowed(headers) ? `not exposed: ${missing.join(', ')}` : 'origin not allowed'
    visit.note('demand_hidden', named(paid), seen)
  }
}

async function checkPreflight({ ask, note }: Visit, paid: Paid): Promise<void> {
  const at = `OPTIONS ${paid.path}`
  const answer = await ask(paid.path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': paid.method,
      'access-control-request-headers': requestHeaders.join(','),
    },
  })
  const { headers, status } = answer
  const methods = listOf(headers.get('access-control-allow-methods'))
  const isListed = methods.includes(paid.method.toLowerCase()) || methods.includes('*')
  const isSimple = ['GET', 'POST', 'HEAD'].includes(paid.method)
  if (status < 200 || status > 299 || !isAllowed(headers) || !(isListed || isSimple)) {
    note('preflight_refused', at, tell(answer))
    return
  }
  const allowed = listOf(headers.get('access-control-allow-headers'))
  const missing = requestHeaders.filter((name) => !allowed.includes(name) && !allowed.includes('*'))
  if (missing.length > 0) note('preflight_headers', at, missing.join(', '))
}

function isAllowed(headers: Headers): boolean {
  return ['*', origin].includes(headers.get('access-control-allow-origin') ?? '')
}

function listOf(header: string | null): readonly string[] {
  return (header ?? '')
    .toLowerCase()
    .split(',')
    .map((name) => name.trim())
}
