import type { FastifyRequest } from 'fastify'
import { type Html, html } from './frame/html.ts'

interface Followed {
  readonly version: string
  /** The path from which the page is loaded again; that of an answer to a form may not support GET. */
  readonly page: string
  /** A short sentence that screen readers read after a change. */
  readonly say: string
  readonly isFinished: boolean
}

/**
 * The attributes of the one element of a page that follows its order; `scripts/follow.js` reads them. Put them into the
 * tag: `<div${followed(...)}>`.
 */
export function followed({ version, page, say, isFinished }: Followed): Html {
  const end = isFinished && html` data-end="true"`
  return html` data-version="${version}" data-page="${page}" data-say="${say}"${end}`
}

/** Whether the script already shows this version of the page. The answer is then 304, and nothing is rendered. */
export function isShown({ headers }: FastifyRequest, version: string): boolean {
  return headers['if-none-match'] === `"${version}"`
}

/** Seconds after which a browser without script reloads the page. */
const reloadSeconds = 10

/**
 * For browsers without script: reloads the page while something is under way. Not for a page with a text field, which a
 * reload would clear.
 *
 * @param page the path of the page itself, even in an answer to a form
 */
export function reloading(page: string, isReloaded: boolean): { readonly head?: Html } {
  if (!isReloaded) return {}
  const content = `${reloadSeconds}; url=${page}`
  return { head: html`<noscript><meta http-equiv="refresh" content="${content}"></noscript>` }
}
