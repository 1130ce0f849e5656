import { toString as draw } from 'qrcode'

/**
 * A QR code of half blocks. With colours it brings its own white ground and scans on any terminal;
 * without, it is dark where the terminal's letters are.
 */
export async function qrCode(content: string, colours: boolean): Promise<string> {
  if (!colours) return draw(content, { type: 'utf8', margin: 2 })
  const drawn = await draw(content, { type: 'terminal', small: true })
  // The last line has only escape codes.
  return drawn.slice(0, drawn.lastIndexOf('\n'))
}
