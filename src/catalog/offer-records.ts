import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'
import { idInCapitals } from '../lib/ids.ts'
import { listOf, type Offer } from './offer.ts'
import type { Joined, Joining } from './ports.ts'

/**
 * Every offer as the supplier lists it, in compressed blocks. Whole offers are read only when they are shown or
 * bought; a search reads none. The list is also stored in this form for the next start, so that 200,000 offers are
 * not parsed only to be passed on.
 */
export interface OfferRecords {
  readonly count: number
  /** One block after the other. */
  readonly bytes: Uint8Array
  /** Where each block begins; one more entry than blocks says where the last ends. */
  readonly starts: Uint32Array
}

/** A block compresses to about a tenth. A page of a search reads many blocks, so larger ones would slow it down. */
const offersPerBlock = 8

/**
 * Each block is a deflate stream that ends at a byte boundary without a final block (RFC 1951), so several of them
 * in a row are read as one stream: creating an inflater takes longer than reading a block.
 */
const endless = { finishFlush: constants.Z_SYNC_FLUSH }

interface Mark {
  readonly blocks: number
  readonly lines: readonly string[]
  readonly count: number
}

export interface RecordsWriter {
  /** @param json the offer as one JSON text, which has no line break in it */
  add(json: string): void
  /** The current position. */
  mark(): Mark
  /** Discards what was written since that position. */
  backTo(mark: Mark): void
  finish(): OfferRecords
}

export function recordsWriter(): RecordsWriter {
  const blocks: Buffer[] = []
  let lines: string[] = []
  let count = 0
  const endBlock = () => {
    if (lines.length > 0) blocks.push(deflateRawSync(`${lines.join('\n')}\n`, endless))
    lines = []
  }
  return {
    add(json) {
      lines.push(json)
      count += 1
      if (lines.length === offersPerBlock) endBlock()
    },
    mark: () => ({ blocks: blocks.length, lines: [...lines], count }),
    backTo(mark) {
      blocks.length = mark.blocks
      lines = [...mark.lines]
      count = mark.count
    },
    finish() {
      endBlock()
      return joined(blocks, count)
    },
  }
}

export function packOffers(offers: Iterable<Offer>): OfferRecords {
  const writer = recordsWriter()
  for (const offer of offers) writer.add(JSON.stringify(offer))
  return writer.finish()
}

function joined(blocks: readonly Buffer[], count: number): OfferRecords {
  const starts = new Uint32Array(blocks.length + 1)
  for (const [at, { length }] of blocks.entries()) starts[at + 1] = (starts[at] as number) + length
  const bytes = new Uint8Array(starts[blocks.length] as number)
  for (const [at, block] of blocks.entries()) bytes.set(block, starts[at])
  return { count, bytes, starts }
}

/**
 * The offer in this row.
 *
 * @throws RangeError if there is none
 */
export function offerAt(records: OfferRecords, row: number): Offer {
  return offersAt(records, [row])[0] as Offer
}

/**
 * The offers in these rows, their blocks read together.
 *
 * @throws RangeError if one of them has none
 */
export function offersAt(records: OfferRecords, rows: ArrayLike<number>): Offer[] {
  const blockOf = (row: number) => {
    const isThere = Number.isInteger(row) && row >= 0 && row < records.count
    if (!isThere) throw new RangeError(`There is no offer in row ${row}`)
    return Math.floor(row / offersPerBlock)
  }
  // Ascending: only the last block of all may have fewer offers than the others.
  const blocks = [...new Set(Array.from(rows, blockOf))].sort((one, other) => one - other)
  const lines = linesOf(records, blocks)
  return Array.from(rows, (row) => {
    const line = lines[blocks.indexOf(blockOf(row)) * offersPerBlock + (row % offersPerBlock)]
    return JSON.parse(line as string) as Offer
  })
}

/** All offers, row by row, each with its JSON. */
export function* offersIn(records: OfferRecords): Generator<[Offer, string]> {
  for (let block = 0; block < records.starts.length - 1; block++) {
    for (const line of linesOf(records, [block])) yield [JSON.parse(line) as Offer, line]
  }
}

/** Joins lists. Of two offers whose ids differ at most in case, the first counts; newly read lists come first. */
export function joinLists({ read, earlier, held }: Joining): Joined {
  const writer = recordsWriter()
  const ids = new Set<string>()
  let duplicates = 0
  const take = (list: OfferRecords, isHeld: boolean) => {
    for (const [offer, json] of offersIn(list)) {
      if (held.includes(listOf(offer)) !== isHeld) continue
      const id = idInCapitals(offer.id)
      if (ids.has(id)) duplicates += 1
      else writer.add(json)
      ids.add(id)
    }
  }
  for (const list of read) take(list, false)
  if (held.length > 0) take(earlier, true)
  return { offers: writer.finish(), duplicates }
}

/** The offers from row `from` up to, not including, row `to`, one block at a time. */
export function* offersBetween(
  records: OfferRecords,
  from: number,
  to: number,
): Generator<{ readonly row: number; readonly offer: Offer }[]> {
  const end = Math.min(to, records.count)
  for (let row = from; row < end; ) {
    const block = Math.floor(row / offersPerBlock)
    const first = block * offersPerBlock
    const lines = linesOf(records, [block]).slice(row - first, end - first)
    const start = row
    yield lines.map((line, at) => ({ row: start + at, offer: JSON.parse(line) as Offer }))
    row += lines.length
  }
}

/** The lines of some blocks, block after block. */
function linesOf({ bytes, starts }: OfferRecords, blocks: readonly number[]): string[] {
  const packed = blocks.map((block) => bytes.subarray(starts[block], starts[block + 1]))
  const lines = inflateRawSync(Buffer.concat(packed), endless).toString('utf8').split('\n')
  return lines.slice(0, -1)
}
