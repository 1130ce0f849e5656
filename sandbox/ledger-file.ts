import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  truncateSync,
  writeSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'

/** Cuts off an incomplete last line, which a killed process left: no answer was sent for it. */
function readWhole(path: string): string {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole))
  return whole
}

/** Opens an append-only file of JSON lines, the oldest first. Without a path nothing is stored. */
export function openLedgerFile(path: string | undefined) {
  if (path === undefined) {
    return { instance: randomUUID(), lines: [], append: () => {}, close: () => {} }
  }
  const full = resolve(path)
  mkdirSync(dirname(full), { recursive: true })
  const texts = readWhole(full).split('\n')
  const lines = texts
    .filter((text) => text !== '')
    .map((text, index): unknown => {
      try {
        return JSON.parse(text)
      } catch (cause) {
        throw new Error(`Line ${index + 1} of ${full} is not JSON.`, { cause })
      }
    })
  const descriptor = openSync(full, 'a', 0o600)
  const file = { open: true }
  return {
    instance: createHash('sha256').update(full).digest('hex').slice(0, 16),
    lines,
    append: (line: unknown): void => {
      writeSync(descriptor, `${JSON.stringify(line)}\n`)
    },
    /** May be called twice, because two signals may arrive. */
    close(): void {
      if (file.open) closeSync(descriptor)
      file.open = false
    },
  }
}
