/** A metric in the expression of a rule, with the values that its labels must have. */
export interface Selector {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
}

/**
 * The metrics of the store in the expressions of rules. An alternative (`by=~"a|b"`) gives a selector for each value.
 */
export function selectorsIn(rules: string): readonly Selector[] {
  const found = rules.matchAll(/\b((?:kiosk402|nodejs|process)_\w+)(?:\{([^}]*)\})?/g)
  return [...found].flatMap(([, name = '', matchers = '']) =>
    [...matchers.matchAll(/(\w+)=~?"([^"]*)"/g)]
      // `job` is added by the scrape, and `status` is matched by its first digit only.
      .filter(([, label]) => label !== 'job' && label !== 'status')
      .map(([, label = '', values = '']) => values.split('|').map((value) => ({ [label]: value })))
      .reduce<Record<string, string>[]>(
        (all, some) => all.flatMap((one) => some.map((more) => ({ ...one, ...more }))),
        [{}],
      )
      .map((labels) => ({ name, labels })),
  )
}

/** Whether a line in the Prometheus text format is a sample of this selector. */
export function isSampleOf({ name, labels }: Selector, line: string): boolean {
  return (
    /^\w+/.exec(line)?.[0] === name &&
    Object.entries(labels).every(([label, value]) => line.includes(`${label}="${value}"`))
  )
}
