import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { privately } from '../frame/private-page.ts'

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

/** What a route of a form takes, as Fastify reads it. */
interface FormOptions {
  readonly config: { readonly limit: 'reading' | 'purchase' }
  readonly bodyLimit: number
}

/**
 * A form whose answer is a page with its own address, one step below the page of the form. Browsers
 * restore, share and bookmark that address, and request it with GET: they are redirected to the page.
 */
export function routeForm(
  pages: FastifyInstance,
  path: string,
  options: FormOptions,
  take: (request: never, reply: FastifyReply) => unknown,
): void {
  pages.post(path, options, take as (request: FastifyRequest, reply: FastifyReply) => unknown)
  const parent = path.slice(0, path.lastIndexOf('/'))
  pages.get(path, { config: { limit: 'reading' } }, ({ params }, reply) => {
    const given = params as Readonly<Record<string, string>>
    const home = parent.replace(/:(\w+)/g, (_, name: string) =>
      encodeURIComponent(given[name] ?? ''),
    )
    return privately(reply).redirect(home, 303)
  })
}

/**
 * Whether a page of another site made this browser send a form. Browsers say where a form comes from
 * in `Sec-Fetch-Site`, or in `Origin` where they are old or the store is reached over plain http. Our
 * pages tell their own site where a visitor comes from (`page-headers.ts`), so an origin of "null" is not
 * one of theirs. A client that sends neither header is not a browser, so it cannot be abused by another site.
 */
export function isFromElsewhere({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host
}
