import { type Html, html } from '../frame/html.ts'

/** What a page says of its part that changes by itself. */
export interface LivePart {
  /** What `versionOf` of its address says when this is shown. */
  readonly version: string
  /** Where to listen: "/orders/ord_1/live". */
  readonly at: string
  /** What is read out after a change, a short sentence. */
  readonly say: string
  /** Whether nothing will change any more. */
  readonly isFinished: boolean
}

/**
 * The attributes of the one element of a page that changes by itself; the script of live pages reads
 * them. Put it into the tag: `<div${liveMark(...)}>`.
 */
export function liveMark({ version, at, say, isFinished }: LivePart): Html {
  const end = isFinished ? html` data-live-end="true"` : undefined
  return html` data-live="${version}" data-live-at="${at}" data-live-say="${say}"${end}`
}

/** For browsers without script: loads the page again while something is under way. */
export function reloading(isFinished: boolean, seconds = 10): Html | undefined {
  if (isFinished) return undefined
  return html`<noscript><meta http-equiv="refresh" content="${seconds}"></noscript>`
}
