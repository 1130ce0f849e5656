import { toString as draw } from 'qrcode'

/**
 * A QR code of half blocks. With colours it has its own white background and scans on any terminal; without, its dark
 * modules have the colour of the terminal's text.
 */
export async function qrCode(content: string, colours: boolean): Promise<string> {
  if (!colours) return draw(content, { type: 'utf8', margin: 2 })
  const drawn = await draw(content, { type: 'terminal', small: true })
  // The last line contains only escape codes.
  return drawn.slice(0, drawn.lastIndexOf('\n'))
}
