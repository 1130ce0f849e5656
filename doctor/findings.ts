import type { Ask } from './ask.ts'
import { type FaultCode, faults, type Level } from './faults.ts'

/** One finding, as it is reported. */
export interface Finding {
  readonly code: FaultCode
  readonly level: Level
  /** The request or the part of the store, such as `POST /buy`. */
  readonly where: string
  /** What was seen there. The store's own words are shortened, and have no control characters. */
  readonly seen: string
  readonly what: string
  readonly mend: string
}

export type Note = (code: FaultCode, where: string, seen?: unknown) => void

/** The context of every check. */
export interface Visit {
  /** The origin at which the store is examined. */
  readonly origin: string
  /** The origin under which the store is published; usually the same. */
  readonly publicOrigin: string
  readonly ask: Ask
  readonly note: Note
}

const maxSeen = 240

/** Collects findings without duplicates. */
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
    /** The findings, the most severe first. */
    findings: (): readonly Finding[] =>
      [...findings.values()].sort(
        (a, b) => rank[a.level] - rank[b.level] || order.indexOf(a.code) - order.indexOf(b.code),
      ),
  }
}

const rank: Readonly<Record<Level, number>> = { stop: 0, warn: 1, note: 2 }

/** Removes control characters and shortens the text, because the store's words could control or flood the terminal. */
function printable(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, ' ').trim()
  return clean.length > maxSeen ? `${clean.slice(0, maxSeen)}…` : clean
}
