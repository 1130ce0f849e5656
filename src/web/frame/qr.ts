import { create } from 'qrcode'
import { type Html, html } from './html.ts'

/** The quiet zone around the code, in modules, as ISO/IEC 18004 requires. */
const margin = 4

/** A QR code as SVG inside the page; screen readers read `label`. */
export function qrSvg(text: string, label: string): Html {
  const { modules } = create(text, { errorCorrectionLevel: 'M' })
  const { size, data } = modules
  const side = size + 2 * margin
  const rows = Array.from({ length: size }, (_, y) => rowPath(data, size, y)).join('')
  return html`<svg class="qr-code" role="img" aria-label="${label}" viewBox="0 0 ${side} ${side}" width="240" height="240" shape-rendering="crispEdges"><rect width="${side}" height="${side}" fill="#fff"></rect><path fill="#000" d="${rows}"></path></svg>`
}

/** The dark modules of a row, each run of them as one rectangle. */
function rowPath(data: ArrayLike<number | boolean>, size: number, y: number): string {
  let path = ''
  for (let x = 0; x < size; x += 1) {
    const start = x
    while (x < size && data[y * size + x]) x += 1
    if (x > start) path += `M${start + margin} ${y + margin}h${x - start}v1h-${x - start}z`
  }
  return path
}
