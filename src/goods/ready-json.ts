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

/** A piece has 4 MiB, and there may be 1024 of them. */
const pieceBits = 22
const pieceBytes = 2 ** pieceBits

export interface ReadyWriter {
  add(offer: Offer): void
  finish(): ReadyJson
}

export function readyWriter(publish: Publish): ReadyWriter {
  const pieces: Buffer[] = []
  const starts = growing()
  const lengths = { discovery: growing(), catalog: growing() }
  let used = pieceBytes

  const roomFor = (bytes: number): Buffer => {
    const piece = pieces.at(-1)
    if (piece !== undefined && used + bytes <= pieceBytes) return piece
    used = 0
    // An offer that may be larger than a piece gets a larger one, in which nothing is put that would
    // begin where no start can point.
    const next = Buffer.alloc(Math.max(pieceBytes, bytes))
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

/** Where the bytes of a row are in one form. */
export function readyAt({ pieces, starts, lengths }: ReadyJson, row: number, form: ReadyForm) {
  const start = starts[row] as number
  const from = start & (pieceBytes - 1)
  const piece = pieces[start >>> pieceBits] as Uint8Array
  return piece.subarray(from, from + (lengths[form][row] as number))
}
