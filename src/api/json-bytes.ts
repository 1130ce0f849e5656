/** Builds one JSON answer out of parts, most of which are bytes already. */
export interface JsonBytes {
  /** Forgets all that was added, also by an answer that was never finished. */
  begin(): void
  text(text: string): void
  bytes(part: Uint8Array): void
  /** Adds a part of these bytes. */
  range(bytes: Uint8Array, from: number, to: number): void
  /** A copy of all that was added since the beginning. */
  take(): Buffer
}

/** Room that is used again for every answer: none waits while it is built. */
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
      // A comma or a bracket: calling the system for it takes longer than anything else here.
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
      // Calling the copy of the system takes as long as copying 32 bytes here.
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
