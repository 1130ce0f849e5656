/** Builds a JSON answer from parts, most of which are already bytes. */
export interface JsonBytes {
  /** Discards everything added before, even by an answer that was never finished. */
  begin(): void
  text(text: string): void
  bytes(part: Uint8Array): void
  /** Adds a part of these bytes. */
  range(bytes: Uint8Array, from: number, to: number): void
  /** A copy of everything added since `begin`. */
  take(): Buffer
}

/** A buffer that is reused for every answer, which is safe because answers are built synchronously. */
export function jsonBytes(): JsonBytes {
  let room = Buffer.alloc(64 * 1024)
  let length = 0
  const need = (more: number) => {
    if (length + more <= room.length) return
    const larger = Buffer.alloc(2 * (length + more))
    room.copy(larger, 0, 0, length)
    room = larger
  }
  return {
    begin() {
      length = 0
    },
    text(text) {
      const code = text.charCodeAt(0)
      // A single ASCII character, such as a comma: a native call for it would cost more than everything else here.
      if (text.length === 1 && code < 128) {
        need(1)
        room[length++] = code
        return
      }
      // No character takes more than three bytes for each of its code units.
      need(3 * text.length)
      length += room.write(text, length)
    },
    bytes(part) {
      need(part.length)
      room.set(part, length)
      length += part.length
    },
    range(bytes, from, to) {
      // A native copy takes as long as copying 32 bytes in this loop.
      if (to - from > 32) {
        this.bytes(bytes.subarray(from, to))
        return
      }
      need(to - from)
      for (let at = from; at < to; at++) room[length++] = bytes[at] as number
    },
    take() {
      const answer = Buffer.allocUnsafeSlow(length)
      room.copy(answer, 0, 0, length)
      return answer
    },
  }
}
