import type { Wanted } from './arguments.ts'
import type { Examined } from './examine.ts'
import type { Level } from './faults.ts'
import type { Finding } from './findings.ts'

export interface Report {
  readonly text: string
  /** Whether nothing was found that would stop a buyer. */
  readonly isHealthy: boolean
}

const titles: Readonly<Record<Level, string>> = {
  stop: 'Stops buyers',
  warn: 'Costs buyers or listings',
  note: 'Missing',
}

/** The findings, as text or as one JSON object. */
export function reportOf({ origin, publicOrigin, json }: Wanted, examined: Examined): Report {
  const { findings, operations } = examined
  const isHealthy = findings.every(({ level }) => level !== 'stop')
  if (json) {
    const told = { store: origin, public: publicOrigin, ok: isHealthy, operations, findings }
    return { text: JSON.stringify(told), isHealthy }
  }
  const groups = (['stop', 'warn', 'note'] as const).flatMap((level) => {
    const found = findings.filter((finding) => finding.level === level)
    return found.length === 0 ? [] : [`\n${titles[level]}:`, ...grouped(found)]
  })
  const verdict = isHealthy
    ? 'Nothing would stop a buyer.'
    : 'A buyer would be stopped; the first group above says where.'
  const looked = `Looked at ${origin}: ${operations.join(', ') || 'no paid operation'}`
  return { text: [looked, ...groups, '', verdict].join('\n'), isHealthy }
}

/** The most places of a fault in the text, which show what they have in common; --json has all. */
const maxPlaces = 6

/** Each fault once, with its fix and its places. */
function grouped(findings: readonly Finding[]): string[] {
  return [...Map.groupBy(findings, ({ code }) => code)].flatMap(([code, seen]) => {
    const [{ what, mend } = { what: '', mend: '' }] = seen
    const places = seen.map(({ where, seen: said }) => `      ${where}${said ? `: ${said}` : ''}`)
    const more = places.splice(maxPlaces).length
    const rest = more === 0 ? [] : [`      and at ${more} more`]
    return [`  ${code}: ${what}`, `    Fix: ${mend}`, ...places, ...rest]
  })
}
