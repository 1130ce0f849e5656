import { growing } from './building/growing.ts'
import { shareBytes } from './building/share-bytes.ts'
import type { Offer } from './offer.ts'

/**
 * The finished JSON of every offer as it is published, so that a page of an answer is only copied.
 *
 * The parts of an offer are first its discovery fields, then the further fields of the catalog interface: the
 * first alone are one published form, all of them the other. The copying code adds the closing brace.
 */
export interface ReadyJson extends Parts {
  /** Two entries for each row: how many parts there are up to the end of its discovery fields, and of the row. */
  readonly ends: Uint32Array
}

/** Texts that are composed of parts of one memory. */
export interface Parts {
  readonly memory: Uint8Array
  /** Where in the memory each part begins. */
  readonly starts: Uint32Array
  readonly lengths: Uint16Array
}

export type ReadyForm = 'discovery' | 'catalog'

/** How an offer is published: its discovery fields, and those that only the catalog has. */
export type Publish = (offer: Offer) => { readonly discovery: object; readonly beyond: object }

export interface ReadyWriter {
  /** @returns the JSON that was added */
  add(offer: Offer): string
  finish(): ReadyJson
}

export function readyWriter(publish: Publish): ReadyWriter {
  const shared = shareBytes()
  const ends = growing()
  const write = (text: string) => {
    shared.add(Buffer.from(text))
    ends.push(shared.count())
  }
  return {
    add(offer) {
      const { discovery, beyond } = publish(offer)
      const first = JSON.stringify(discovery).slice(0, -1)
      const fields = JSON.stringify(beyond).slice(1, -1)
      const more = fields === '' ? '' : `,${fields}`
      write(first)
      write(more)
      return first + more
    },
    finish: () => ({ ...shared.finish(), ends: ends.take() }),
  }
}

/**
 * Frees the memory at once; the garbage collector would free it only some time after the next catalog. Copying
 * from it afterwards throws.
 */
export function letGo({ memory, starts, lengths }: ReadyJson): void {
  for (const { buffer } of [memory, starts, lengths]) {
    if (buffer instanceof ArrayBuffer) buffer.transfer(0)
  }
}

/**
 * Adds the bytes of a row in one form.
 *
 * @throws Error if the memory was freed
 */
export function copyReady(
  { memory, starts, lengths, ends }: ReadyJson,
  row: number,
  form: ReadyForm,
  into: { range(bytes: Uint8Array, from: number, to: number): void },
): void {
  if (memory.length === 0) throw new Error('The finished JSON of this catalog was given back')
  const end = ends[2 * row + (form === 'discovery' ? 0 : 1)] as number
  for (let part = row === 0 ? 0 : (ends[2 * row - 1] as number); part < end; part++) {
    const start = starts[part] as number
    into.range(memory, start, start + (lengths[part] as number))
  }
}
