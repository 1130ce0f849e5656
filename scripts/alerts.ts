import { readFileSync } from 'node:fs'

interface Alert {
  readonly severity: string
  /** How long the expression must hold before the alert fires; undefined: it fires at once. */
  readonly after: string | undefined
  readonly why: string
  readonly mend: string
}

/** The alerts of deploy/alerts.yml, by their names. */
export function alerts(): Readonly<Record<string, Alert>> {
  const [, ...rules] = readFileSync('deploy/alerts.yml', 'utf8').split('- alert: ')
  return Object.fromEntries(rules.map((rule) => [/^\w+/.exec(rule)?.[0] ?? '', alertIn(rule)]))
}

function alertIn(rule: string): Alert {
  const find = (pattern: RegExp) => pattern.exec(rule)?.[1]
  return {
    severity: find(/severity: (\w+)/) ?? '',
    after: find(/^ +for: (\w+)$/m),
    why: find(/^ +why: "(.*)"$/m) ?? '',
    mend: find(/^ +mend: "(.*)"$/m) ?? '',
  }
}
