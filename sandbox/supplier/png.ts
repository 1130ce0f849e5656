import { crc32, deflateSync } from 'node:zlib'
import { encode } from 'uqr'

const pixelsPerModule = 8

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const framed = Buffer.alloc(body.length + 8)
  framed.writeUInt32BE(data.length, 0)
  body.copy(framed, 4)
  framed.writeUInt32BE(crc32(body), body.length + 4)
  return framed
}

/** A square greyscale PNG of rows of modules; `true` is black. */
function png(rows: readonly (readonly boolean[])[]): Buffer {
  const side = rows.length * pixelsPerModule
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header[8] = 8
  const lines = rows.flatMap((row) => {
    const line = Buffer.alloc(side + 1, 255)
    line[0] = 0
    for (const [index, black] of row.entries()) {
      if (black) line.fill(0, 1 + index * pixelsPerModule, 1 + (index + 1) * pixelsPerModule)
    }
    return Array.from({ length: pixelsPerModule }, () => line)
  })
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  const pixels = chunk('IDAT', deflateSync(Buffer.concat(lines)))
  return Buffer.concat([signature, chunk('IHDR', header), pixels, chunk('IEND', Buffer.alloc(0))])
}

/** The QR code of `text` as a PNG, level M, with the quiet zone of four modules that scanners need. */
export function qrPng(text: string): Buffer {
  return png(encode(text, { ecc: 'M', border: 4 }).data)
}
