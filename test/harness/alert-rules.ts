/** A metric that a rule asks for, with what its labels must be. */
export interface Selector {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/**
 * The metrics of the store in the expressions of rules. A choice (`by=~"a|b"`) is a selector for each.
 */
export function selectorsIn(rules: string): readonly Selector[] {
  const found = rules.matchAll(/\b((?:kiosk402|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)
  return [...found].flatMap(([, name = '', matchers = '']) =>
    [...matchers.matchAll(/(\w+)=~?"([^"]*)"/g)]
      // What a scrape adds, and codes of HTTP by their first digit.
      .filter(([, label]) => label !== 'job' && label !== 'status')
      .map(([, label = '', values = '']) => values.split('|').map((value) => ({ [label]: value })))
      .reduce<Record<string, string>[]>(
        (all, some) => all.flatMap((one) => some.map((more) => ({ ...one, ...more }))),
        [{}],
      )
      .map((labels) => ({ name, labels })),
  )
}

/** Whether a line of a page of metrics is a sample of it. */
export function isSampleOf({ name, labels }: Selector, line: string): boolean {
  return (
    /^\w+/.exec(line)?.[0] === name &&
    Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`))
  )
}
