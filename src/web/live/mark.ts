import { type Html, html } from '../frame/html.ts'

/** The part of a page that updates itself. */
export interface LivePart {
  /** The version of the page (`versionOf` of its route) that this part shows. */
  readonly version: string
  /** The path of its events: "/orders/ord_1/live". */
  readonly at: string
  /** The path from which it is loaded again; that of an answer to a form may not support GET. */
  readonly page: string
  /** A short sentence that screen readers read after a change. */
  readonly say: string
  /** Whether nothing will change any more. */
  readonly isFinished: boolean
}

/**
 * The attributes of the one element of a page that updates itself; `scripts/live.js` reads them. Put them into the tag:
 * `<div${liveMark(...)}>`.
 */
export function liveMark({ version, at, page, say, isFinished }: LivePart): Html {
  const end = isFinished ? html` data-live-end="true"` : undefined
  return html` data-live="${version}" data-live-at="${at}" data-live-page="${page}" data-live-say="${say}"${end}`
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
