import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Frame } from './frame/layout.ts'
import { privately, sayPrivately } from './frame/senders.ts'
import { orderPagePath, payPath } from './paths.ts'

/** For how long a browser remembers that an order is its visitor's; seconds. */
const rememberedSeconds = 30 * 86_400
const accessCookie = 'access'
/** A cookie of its own, so that a link token, which expires, never replaces the access token, which does not. */
const linkTokenCookie = 'pass'
const walletCookie = 'wallet'

/** An access token (`kat_`) or a link token (`kop_`); nothing else is accepted. */
const token = String.raw`kat_[A-Za-z0-9_-]{43}|kop_[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{43}`
const tokenPattern = new RegExp(`^(?:${token})$`)
/** The token in pasted text: a whole link, or the part after its `#`. */
const pastedPattern = new RegExp(`^(?:\\S*#)?(${token})$`)
const walletPattern = /^kwp_[A-Za-z0-9_-]{20,400}\.[A-Za-z0-9_-]{43}$/

interface Remembered {
  readonly orderId: string
  readonly checkout?: string | undefined
  readonly token: string
  readonly siteUrl: string
}

/**
 * Lets this browser open the page of the order, and that of its payment, again. Links in mails and on other sites open
 * it too (`SameSite=Lax`): the cookie only lets its visitor read, and `isFromElsewhere` refuses forms of other sites.
 */
export function rememberOrder(reply: FastifyReply, remembered: Remembered): void {
  const { orderId, checkout, token: value, siteUrl } = remembered
  const name = value.startsWith('kat_') ? accessCookie : linkTokenCookie
  const paths = [...(checkout ? [payPath(checkout)] : []), orderPagePath(orderId)]
  for (const path of paths) {
    setCookie(reply, siteUrl, [`${name}=${value}`, `Path=${path}`, `Max-Age=${rememberedSeconds}`])
  }
}

/** Lets this browser open the orders of a wallet for some time; an empty token with 0 seconds ends it. */
export function rememberWallet(
  reply: FastifyReply,
  session: { readonly sessionToken: string; readonly seconds: number; readonly siteUrl: string },
): void {
  const { sessionToken, seconds, siteUrl } = session
  setCookie(reply, siteUrl, [`${walletCookie}=${sessionToken}`, 'Path=/', `Max-Age=${seconds}`])
}

/** The token of this browser for the page: the access token, else a link token, else undefined. */
export function accessIn(request: FastifyRequest): string | undefined {
  const inCookie = (name: string) => cookieIn(request, name, tokenPattern)
  return inCookie(accessCookie) ?? inCookie(linkTokenCookie)
}

/** The session token of the wallet that signed in with this browser, or undefined. */
export function walletIn(request: FastifyRequest): string | undefined {
  return cookieIn(request, walletCookie, walletPattern)
}

export function readToken(text: unknown): string | undefined {
  return typeof text === 'string' ? pastedPattern.exec(text.trim())?.[1] : undefined
}

function setCookie(reply: FastifyReply, siteUrl: string, parts: readonly string[]): void {
  const secure = siteUrl.startsWith('https:') ? ['Secure'] : []
  reply.header('set-cookie', [...parts, 'HttpOnly', 'SameSite=Lax', ...secure].join('; '))
}

function cookieIn({ headers }: FastifyRequest, cookieName: string, pattern: RegExp) {
  const cookies = (headers.cookie ?? '').split(';').map((part) => part.trim().split('='))
  return cookies.find(([name, value = '']) => name === cookieName && pattern.test(value))?.[1]
}

/** Accepts the forms of our own pages, as browsers send them. */
export function takeForms(pages: FastifyInstance, frame: Frame): void {
  pages.addHook('onRequest', async (request, reply) => {
    if (request.method !== 'POST' || !isFromElsewhere(request)) return undefined
    return sayPrivately(reply.code(403), frame, 'form.elsewhere')
  })
  pages.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_, body, done) => done(null, new URLSearchParams(body)),
  )
}

export function formIn({ body }: Pick<FastifyRequest, 'body'>): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

export const reads = { config: { limit: 'reading' } } as const
export const readsOrders = { config: { limit: 'reading', readsOrders: true } } as const
/** For forms that check a wallet's signature, send a mail, start a payment or claim a refund. */
export const acts = { config: { limit: 'purchase', readsOrders: true } } as const

/**
 * Routes a form that is posted to a path directly below that of its page. Browsers restore, share and bookmark that
 * path after they have posted the form, and then request it with GET: they are redirected to the page.
 */
export function routeForm(
  pages: FastifyInstance,
  path: string,
  options: typeof readsOrders | typeof acts,
  handle: (request: never, reply: FastifyReply) => unknown,
): void {
  pages.post(path, options, handle as (request: FastifyRequest, reply: FastifyReply) => unknown)
  const parent = path.slice(0, path.lastIndexOf('/'))
  pages.get(path, reads, ({ params }, reply) => {
    const values = params as Readonly<Record<string, string>>
    const home = parent.replace(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent(values[name] ?? ''),
    )
    return privately(reply).redirect(home, 303)
  })
}

/**
 * Whether a page of another site made this browser send a form. Browsers name the origin of a form in
 * `Sec-Fetch-Site`, or in `Origin` if they are old or reach the store over plain http. Our pages send a referrer to
 * our own site (`layout.ts`), so an origin of "null" is never one of them. A client that sends neither header is
 * not a browser, so another site cannot abuse it.
 */
function isFromElsewhere({ headers }: FastifyRequest): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host
}
