import type { Examined } from './examine.ts'
import type { Finding } from './faults.ts'

const titles = { stop: 'Stops buyers', warn: 'Costs buyers or listings', note: 'Missing' } as const

/** @param text an http or https URL @throws Error with a sentence that says what is wrong with it */
export function originOf(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`${text} is no http or https URL, such as https://shop.example`)
  if (url.username !== '' || url.password !== '')
    throw new Error('Leave user name and password out of the URL')
  return url.origin
}

export const isHealthy = ({ findings }: Examined): boolean =>
  findings.every(({ level }) => level !== 'stop')

/** The findings by what they cost, for people. */
export function linesFor(origin: string, examined: Examined): string[] {
  const { findings, operations } = examined
  const groups = (['stop', 'warn', 'note'] as const).flatMap((level) => {
    const found = findings.filter((finding) => finding.level === level)
    return found.length === 0 ? [] : ['', `${titles[level]}:`, ...grouped(found)]
  })
  const verdict = isHealthy(examined)
    ? 'Nothing would stop a buyer.'
    : 'A buyer would be stopped; the first group above says where.'
  const looked = `Looked at ${origin}: ${operations.join(', ') || 'no paid operation'}`
  return [looked, ...groups, '', verdict]
}

/** Each fault once, with its fix and its places. */
function grouped(findings: readonly Finding[]): string[] {
  return [...Map.groupBy(findings, ({ code }) => code)].flatMap(([code, all]) => {
    const [{ what, mend } = { what: '', mend: '' }] = all
    const places = all.map(({ where, seen }) => `      ${where}${seen ? `: ${seen}` : ''}`)
    return [`  ${code}: ${what}`, `    Fix: ${mend}`, ...places]
  })
}
