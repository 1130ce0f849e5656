import { create } from 'qrcode'
import { type Html, html } from '../frame/html.ts'

/** Modules of white around a code; readers want four (ISO 18004). */
const quiet = 4

/**
 * A QR code as a picture that stands in the page itself. It is black on white in every theme, because
 * many readers take no other.
 *
 * @param alt what it is, for those who do not see it
 */
export function qrPicture(content: string, alt: string): Html {
  const { modules } = create(content, { errorCorrectionLevel: 'M' })
  const side = modules.size + 2 * quiet
  return html`<svg class="code" role="img" aria-label="${alt}" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${side}v${side}H0z"/><path d="${dark(modules)}"/></svg>`
}

interface Modules {
  readonly size: number
  readonly get: (row: number, column: number) => number
}

/** One stroke for each run of dark modules in a row. */
function dark(modules: Modules): string {
  const strokes: string[] = []
  for (let row = 0; row < modules.size; row += 1) {
    let from: number | undefined
    for (let column = 0; column <= modules.size; column += 1) {
      const isDark = column < modules.size && modules.get(row, column) === 1
      if (isDark) from ??= column
      else if (from !== undefined) {
        strokes.push(`M${from + quiet} ${row + quiet}h${column - from}v1H${from + quiet}z`)
        from = undefined
      }
    }
  }
  return strokes.join('')
}
