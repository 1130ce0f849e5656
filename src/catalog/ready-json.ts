import { growing } from './building/growing.ts'
import type { Offer } from './offer.ts'

/**
 * The JSON of every offer as it is published, finished, so that a page of an answer is a copy.
 *
 * The bytes of an offer are its discovery fields and then what the catalog says beyond them: the
 * first part alone is the one published form, both together are the other. The brace at the end is
 * left to whoever copies.
 */
export interface ReadyJson {
  /** Offers lie in large pieces of memory, none across two, so that no piece has to grow. */
  readonly pieces: readonly Uint8Array[]
  /** Of each row the number of its piece, in the upper bits, and its place there, in the lower ones. */
  readonly starts: Uint32Array
  /** How many bytes of each row are in each of its forms. */
  readonly lengths: Readonly<Record<ReadyForm, Uint32Array>>
}

export type ReadyForm = 'discovery' | 'catalog'

/** How an offer is published: its discovery fields, and those that only the catalog has. */
export type Publish = (offer: Offer) => { readonly discovery: object; readonly beyond: object }

/**
 * A piece has at most 64 MiB, and there may be 64 of them. Room that large is given by the system
 * page by page as it is filled, and goes back to it whole. The first ones are small, for small lists.
 */
const pieceBits = 26
const pieceBytes = 2 ** pieceBits
const firstPieceBytes = 2 ** 16

export interface ReadyWriter {
  /** @returns what was added */
  add(offer: Offer): string
  finish(): ReadyJson
}

export function readyWriter(publish: Publish): ReadyWriter {
  const pieces: Buffer[] = []
  const starts = growing()
  const lengths = { discovery: growing(), catalog: growing() }
  let used = 0

  const roomFor = (bytes: number): Buffer => {
    const piece = pieces.at(-1)
    const end = Math.min(piece?.length ?? 0, pieceBytes)
    if (piece !== undefined && used + bytes <= end) return piece
    used = 0
    // An offer that may be larger than a piece gets a larger one, in which nothing is put that would
    // begin where no start can point.
    const usual = Math.min(pieceBytes, firstPieceBytes * 4 ** pieces.length)
    const next = Buffer.alloc(Math.max(usual, bytes))
    pieces.push(next)
    return next
  }

  return {
    add(offer) {
      const { discovery, beyond } = publish(offer)
      const first = JSON.stringify(discovery).slice(0, -1)
      const more = JSON.stringify(beyond).slice(1, -1)
      const text = more === '' ? first : `${first},${more}`
      // No character takes more than three bytes for each of its code units.
      const piece = roomFor(3 * text.length)
      starts.push((pieces.length - 1) * pieceBytes + used)
      const length = piece.write(text, used)
      lengths.discovery.push(Buffer.byteLength(first))
      lengths.catalog.push(length)
      used += length
      return text
    },
    finish() {
      return {
        pieces,
        starts: starts.take(),
        lengths: { discovery: lengths.discovery.take(), catalog: lengths.catalog.take() },
      }
    },
  }
}

/**
 * Gives the memory back at once: the garbage collector would come for it some time after the next
 * catalog. Whoever copies from it afterwards gets an error.
 */
export function letGo({ pieces }: ReadyJson): void {
  for (const { buffer } of pieces) if (buffer instanceof ArrayBuffer) buffer.transfer(0)
}

/** Where the bytes of a row are in one form. */
export function readyAt({ pieces, starts, lengths }: ReadyJson, row: number, form: ReadyForm) {
  const start = starts[row] as number
  const from = start & (pieceBytes - 1)
  const piece = pieces[start >>> pieceBits] as Uint8Array
  return piece.subarray(from, from + (lengths[form][row] as number))
}
