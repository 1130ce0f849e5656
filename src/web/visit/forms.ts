import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { privately } from '../frame/private-page.ts'

/** Accepts form bodies as browsers send them, only for pages. */
export function takeForms(pages: FastifyInstance): void {
  pages.addContentTypeParser<string>(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_, body, done) => done(null, new URLSearchParams(body)),
  )
}

/** The fields of a form; none if the body is not a form. */
export function formIn({ body }: Pick<FastifyRequest, 'body'>): URLSearchParams {
  return body instanceof URLSearchParams ? body : new URLSearchParams()
}

/** The Fastify options of a route for a form. */
interface FormOptions {
  readonly config: { readonly limit: 'reading' | 'purchase' }
  readonly bodyLimit: number
}

/**
 * Routes a form that is posted to a path directly below that of its page. Browsers restore, share and bookmark that
 * path after they have posted the form, and then request it with GET: they are redirected to the page.
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
 * Whether a page of another site made this browser send a form. Browsers name the origin of a form in
 * `Sec-Fetch-Site`, or in `Origin` if they are old or reach the store over plain http. Our pages send a referrer to
 * our own site (`page-headers.ts`), so an origin of "null" is never one of them. A client that sends neither header is
 * not a browser, so another site cannot abuse it.
 */
export function isFromElsewhere({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  const site = headers['sec-fetch-site']
  if (site !== undefined) return site !== 'same-origin'
  const { origin, host } = headers
  if (origin === undefined) return false
  return !URL.canParse(origin) || new URL(origin).host !== host
}
