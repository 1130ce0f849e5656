import { type Html, html } from '../frame/html.ts'

/** The part of a page that updates itself. */
export interface LivePart {
  /** What `versionOf` of its address says when this is shown. */
  readonly version: string
  /** Where to listen: "/orders/ord_1/live". */
  readonly at: string
  /** Where it is loaded again: the page that answers a form has an address without GET. */
  readonly page: string
  /** What is read out after a change, a short sentence. */
  readonly say: string
  /** Whether nothing will change any more. */
  readonly isFinished: boolean
}

/**
 * The attributes of the one element of a page that changes by itself; the script of live pages reads
 * them. Put it into the tag: `<div${liveMark(...)}>`.
 */
export function liveMark({ version, at, page, say, isFinished }: LivePart): Html {
  const end = isFinished ? html` data-live-end="true"` : undefined
  return html` data-live="${version}" data-live-at="${at}" data-live-page="${page}" data-live-say="${say}"${end}`
}

/** Seconds after which a browser without script looks again. */
const reloadSeconds = 10

/**
 * For browsers without script: loads the page again while something is under way. Not for a page with
 * a field to type into, which would be emptied by it.
 *
 * @param page where the page itself is, whatever form it is the answer to
 */
export function reloading(page: string, isReloaded: boolean): { readonly head?: Html } {
  if (!isReloaded) return {}
  const content = `${reloadSeconds}; url=${page}`
  return { head: html`<noscript><meta http-equiv="refresh" content="${content}"></noscript>` }
}
