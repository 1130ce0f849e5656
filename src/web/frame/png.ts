import { crc32, deflateSync } from 'node:zlib'

const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const bytesPerPixel = 3

/** A picture in red, green and blue, to be drawn on. */
export interface Canvas {
  readonly width: number
  readonly height: number
  readonly pixels: Buffer
}

export function canvas(width: number, height: number): Canvas {
  return { width, height, pixels: Buffer.alloc(width * height * bytesPerPixel) }
}

/** @param cover how much of the pixel the colour covers, from 0 to 1 */
export function dot(
  { width, pixels }: Canvas,
  [x, y]: readonly [number, number],
  color: readonly number[],
  cover = 1,
): void {
  const at = (y * width + x) * bytesPerPixel
  for (let part = 0; part < bytesPerPixel; part++) {
    const under = pixels[at + part] as number
    pixels[at + part] = Math.round(under + ((color[part] as number) - under) * cover)
  }
}

/** The picture as a PNG of true colour. */
export function png({ width, height, pixels }: Canvas): Buffer {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  const row = width * bytesPerPixel
  // Each line begins with the number of its filter; 0 is none.
  const lines = Buffer.alloc(height * (row + 1))
  for (let y = 0; y < height; y++) pixels.copy(lines, y * (row + 1) + 1, y * row, (y + 1) * row)
  const parts = [chunk('IHDR', header), chunk('IDAT', deflateSync(lines)), chunk('IEND')]
  return Buffer.concat([signature, ...parts])
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}
