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

interface LedgerFile {
  readonly instance: string
  /** The content of the file when it was opened, oldest first. */
  readonly lines: readonly unknown[]
  append(line: unknown): void
  /** May be called twice, because two signals may arrive. */
  close(): void
}

/** Cuts off an incomplete last line, which a killed process left: no answer was sent for it. */
function readWhole(path: string): string {
  const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const whole = text.slice(0, text.lastIndexOf('\n') + 1)
  if (whole.length < text.length) truncateSync(path, Buffer.byteLength(whole))
  return whole
}

function parseLine(path: string, text: string, index: number): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new Error(`Line ${index + 1} of ${path} is not JSON.`, { cause })
  }
}

/** Opens an append-only file of JSON lines. Without a path nothing is stored. */
export function openLedgerFile(path: string | undefined): LedgerFile {
  if (path === undefined) {
    return { instance: randomUUID(), lines: [], append: () => {}, close: () => {} }
  }
  const full = resolve(path)
  mkdirSync(dirname(full), { recursive: true })
  const texts = readWhole(full)
    .split('\n')
    .filter((text) => text !== '')
  const lines = texts.map((text, index) => parseLine(full, text, index))
  const descriptor = openSync(full, 'a', 0o600)
  const file = { open: true }
  return {
    instance: createHash('sha256').update(full).digest('hex').slice(0, 16),
    lines,
    append: (line) => writeSync(descriptor, `${JSON.stringify(line)}\n`),
    close() {
      if (file.open) closeSync(descriptor)
      file.open = false
    },
  }
}
