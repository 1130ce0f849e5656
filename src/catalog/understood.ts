import { goods, kinds } from './good.ts'
import type { KindDefinition } from './kinds/kind.ts'
import type { Kind } from './offer.ts'
import type { Fields } from './purchase-body.ts'

/** Fields in which models ask for several at once. A count of one is ignored: a purchase is one anyway. */
export const countFields: readonly string[] = ['quantity', 'qty', 'count']

type Reading = (text: string) => unknown

/** How a text in a field is read if it can mean only one thing. Any other text stays as it is. */
const readings: ReadonlyMap<string, Reading> = new Map([
  ...kinds.flatMap(readingsOf),
  ['value', numberIn],
  ['maxUsdc', numberIn],
])

function readingsOf(kind: Kind): [string, Reading][] {
  const { fields }: KindDefinition = goods[kind]
  return Object.entries(fields).flatMap(([name, { understood }]) =>
    understood === undefined ? [] : [[name, understood]],
  )
}

/**
 * The fields of a purchase as they are understood. Models send empty texts and nulls for what they leave out,
 * numbers as text, and extra spaces. A text that was accepted even without this stays letter by letter; otherwise
 * a repeated purchase would differ from the one before.
 */
export function understood(fields: Fields): Record<string, unknown> {
  const given = Object.entries(fields).filter(([name, value]) => !isLeftOut(name, value))
  return Object.fromEntries(given.map(([name, value]) => [name, readAs(name, value)]))
}

function isLeftOut(name: string, value: unknown): boolean {
  if (value === null) return true
  // An empty maximum is refused: leaving it out would buy without a maximum.
  if (typeof value === 'string' && value.trim() === '') return name !== 'maxUsdc'
  if (name === 'value') return readAs(name, value) === 0
  return countFields.includes(name) && (value === 1 || value === '1')
}

function readAs(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value
  return (readings.get(name) ?? trimmed)(value)
}

function trimmed(text: string): string {
  return text.trim()
}

function numberIn(text: string): unknown {
  const bare = text.trim()
  return /^\d{1,9}(\.\d{1,6})?$/.test(bare) ? Number(bare) : bare
}
