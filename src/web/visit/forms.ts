import type { FastifyInstance, FastifyRequest } from 'fastify'

/** Browsers send forms like this; only pages take them. */
export function takeForms(pages: FastifyInstance): void {
  pages.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_, body, done) => done(null, new URLSearchParams(body)),
  )
}

/** What was sent with a form; nothing where something else was sent. */
export function formIn({ body }: Pick<FastifyRequest, 'body'>): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

/**
 * Whether a page of another site made this browser send a form. Browsers say where a form comes from
 * in `Sec-Fetch-Site`, or in `Origin` where they are old or the store is reached over plain http; a page
 * that tells nobody where its visitors come from, as all of ours do, may have an origin of "null".
 * What says nothing is no browser, and nobody's visit can be abused by it.
 */
export function isFromElsewhere({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin'
  const { origin, host } = headers
  if (origin === undefined || origin === 'null') return false
  return !URL.canParse(origin) || new URL(origin).host !== host
}
