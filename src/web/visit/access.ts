import type { FastifyReply, FastifyRequest } from 'fastify'

/** For how long a browser remembers that an order is its visitor's; seconds. */
const rememberedSeconds = 30 * 86_400
const cookieName = 'access'

/** What an access token looks like; anything else is none. */
const tokenPattern = /^kat_[A-Za-z0-9_-]{43}$/

/**
 * Lets this browser open the page at `path` (and below it) again. The token goes into a cookie that
 * no script can read, that is sent to that page alone, and never from another site.
 *
 * @param isSecure whether the store is reached over https
 */
export function rememberAccess(
  reply: FastifyReply,
  {
    path,
    token,
    isSecure,
  }: { readonly path: string; readonly token: string; readonly isSecure: boolean },
): void {
  const parts = [
    `${cookieName}=${token}`,
    `Path=${path}`,
    `Max-Age=${rememberedSeconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(isSecure ? ['Secure'] : []),
  ]
  reply.header('set-cookie', parts.join('; '))
}

/** The token that this browser was given for the page, or undefined. */
export function accessIn(request: FastifyRequest): string | undefined {
  for (const part of (request.headers.cookie ?? '').split(';')) {
    const [name, value = ''] = part.trim().split('=')
    if (name === cookieName && tokenPattern.test(value)) return value
  }
  return undefined
}

/** The token that a form or the part behind the # of a link carries, or undefined. */
export function readToken(text: unknown): string | undefined {
  return typeof text === 'string' && tokenPattern.test(text.trim()) ? text.trim() : undefined
}
