import type { Ask } from './ask.ts'
import { type FaultCode, faults, type Level } from './faults.ts'

/** One thing that was found, as it is told. */
export interface Finding {
  readonly code: FaultCode
  readonly level: Level
  /** What was asked, such as `POST https://shop.example/buy`. */
  readonly where: string
  /** What was seen there. Written by a stranger: without control characters, and short. */
  readonly seen: string
  readonly what: string
  readonly mend: string
}

export type Note = (code: FaultCode, where: string, seen?: unknown) => void

/** What every check has: somebody to ask, and where to write down what it finds. */
export interface Visit {
  /** The address that is asked. */
  readonly origin: string
  /** The address under which the store is published; mostly the same. */
  readonly publicOrigin: string
  readonly ask: Ask
  readonly note: Note
}

const maxSeen = 240

/** Keeps findings, each once. */
export function keepFindings() {
  const findings = new Map<string, Finding>()
  const note: Note = (code, where, seen = '') => {
    const said = printable(typeof seen === 'string' ? seen : (JSON.stringify(seen) ?? ''))
    const at = printable(where)
    const key = `${code} ${at} ${said}`
    if (!findings.has(key)) findings.set(key, { code, where: at, seen: said, ...faults[code] })
  }
  const order = Object.keys(faults)
  return {
    note,
    /** The gravest first. */
    findings: (): readonly Finding[] =>
      [...findings.values()].sort(
        (a, b) => rank[a.level] - rank[b.level] || order.indexOf(a.code) - order.indexOf(b.code),
      ),
  }
}

const rank: Readonly<Record<Level, number>> = { stop: 0, warn: 1, note: 2 }

/** A stranger's text could move the cursor of the terminal, or fill it. */
function printable(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return clean.length > maxSeen ? `${clean.slice(0, maxSeen)}…` : clean
}
