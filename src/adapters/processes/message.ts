import type { Readable } from 'node:stream'
import { Deserializer, Serializer } from 'node:v8'

/*
 * Messages between processes: the length of the head (Uint32), the head (V8's serialization of the value), and
 * the bytes of every typed array in the value. The reader allocates each array once and fills it as bytes
 * arrive.
 */

const arrays = [Uint8Array, Uint16Array, Uint32Array, Float64Array] as const

/** The message of a value, in pieces. Those of its arrays share their memory and are no copies. */
export function messageOf(value: unknown): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  const head = new (class extends Serializer {
    _writeHostObject(array: ArrayBufferView): void {
      const type = arrays.findIndex((one) => array instanceof one)
      if (type < 0) throw new TypeError(`No ${array.constructor.name} goes to another process`)
      const bytes = bytesOf(array)
      this.writeUint32(type)
      this.writeUint32(bytes.length)
      pieces.push(bytes)
    }
  })()
  treatArraysAsHostObjects(head)
  head.writeHeader()
  head.writeValue(value)
  const written = head.releaseBuffer()
  return [bytesOf(Uint32Array.of(written.length)), written, ...pieces]
}

/** Node documents this method, which its types leave out. */
function treatArraysAsHostObjects(head: Serializer): void {
  const documented = head as Serializer & {
    _setTreatArrayBufferViewsAsHostObjects(flag: boolean): void
  }
  documented._setTreatArrayBufferViewsAsHostObjects(true)
}

/** The other process ended before the whole value arrived. */
export class EndedEarly extends Error {
  /** @param how the signal or the exit status of the process, if known */
  constructor(how?: string) {
    super(`A process ended without a result${how === undefined ? '' : ` (${how})`}`)
  }
}

/**
 * Reads one value.
 *
 * @throws EndedEarly if the stream ends before the value is complete
 */
export async function receive(stream: Readable): Promise<unknown> {
  const fill = filling(stream)
  const length = new Uint32Array(1)
  await fill(bytesOf(length))
  const written = Buffer.alloc(length[0] as number)
  await fill(written)
  const rooms: Uint8Array[] = []
  const head = new (class extends Deserializer {
    _readHostObject(): ArrayBufferView {
      const type = arrays[this.readUint32()]
      if (type === undefined) throw new TypeError('Another process sent an unknown array')
      const array = new type(this.readUint32() / type.BYTES_PER_ELEMENT)
      rooms.push(bytesOf(array))
      return array
    }
  })(written)
  head.readHeader()
  const value = head.readValue()
  for (const room of rooms) await fill(room)
  return value
}

/** Returns a function that fills one array after the other from the stream. */
function filling(stream: Readable): (room: Uint8Array) => Promise<void> {
  const chunks: AsyncIterator<Uint8Array> = stream[Symbol.asyncIterator]()
  let rest: Uint8Array = new Uint8Array(0)
  return async (room) => {
    for (let filled = 0; filled < room.length; ) {
      if (rest.length === 0) {
        const { value, done } = await chunks.next()
        if (done) throw new EndedEarly()
        rest = value
      }
      const part = rest.subarray(0, room.length - filled)
      room.set(part, filled)
      filled += part.length
      rest = rest.subarray(part.length)
    }
  }
}

function bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength)
}
