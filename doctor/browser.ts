import { nameOf, type Paid } from './purchase.ts'
import { type Fault, noterOf, tell, type Visit } from './visit.ts'

/** Faults that keep a page of another origin, in a browser, from buying. */
export const browserFaults = {
  preflight_refused: {
    level: 'stop',
    what: 'The store refuses a browser’s preflight or a header that stock clients send, so no page can buy here.',
    mend: 'Let the proxy pass OPTIONS and its answer on.',
  },
  demand_hidden: {
    level: 'stop',
    what: 'The 402 does not let pages read PAYMENT-REQUIRED and PAYMENT-RESPONSE.',
    mend: 'Let the proxy pass Access-Control-Allow-Origin and Access-Control-Expose-Headers on, also with errors.',
  },
} as const satisfies Readonly<Record<string, Fault>>

const note = noterOf(browserFaults)
const origin = 'https://page.doctor.example'
/** Headers that stock clients send, including the last one, which they send by mistake. */
const requestHeaders =
  'content-type,payment-signature,sign-in-with-x,idempotency-key,access-control-expose-headers'

/** Whether a page of another origin can buy: the preflight, and the headers of the 402 that it may read. */
export async function checkBrowser(visit: Visit, paid: Paid): Promise<void> {
  const { method, path } = paid
  const preflight = await visit.ask(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': requestHeaders,
    },
  })
  const missing = missingIn(preflight.headers, 'allow-headers', requestHeaders.split(','))
  if (preflight.status > 299 || preflight.status === 0 || missing !== '')
    note(visit, 'preflight_refused', `OPTIONS ${path}`, missing || tell(preflight))
  const { status, headers } = await visit.ask(path, { method, headers: { origin } })
  const hidden = missingIn(headers, 'expose-headers', ['payment-required', 'payment-response'])
  if (status === 402 && hidden !== '') note(visit, 'demand_hidden', nameOf(paid), hidden)
}

/** What the answer does not allow of these names, as a text; empty if nothing. */
function missingIn(headers: Headers, list: string, names: readonly string[]): string {
  if (!['*', origin].includes(headers.get('access-control-allow-origin') ?? ''))
    return 'origin not allowed'
  const allowed = (headers.get(`access-control-${list}`) ?? '').toLowerCase().split(/\s*,\s*/)
  return names.filter((name) => !allowed.includes(name) && !allowed.includes('*')).join(', ')
}
