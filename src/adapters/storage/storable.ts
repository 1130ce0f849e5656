/**
 * Encodes a value for PostgreSQL's `jsonb`; `restored` decodes it. JSON has no dates and no bigints, and
 * `jsonb` accepts no text with a NUL or an unpaired surrogate, which a supplier's text may contain.
 *
 * @throws Error for a number that is not finite
 */
export function storable(value: unknown): unknown {
  if (typeof value === 'bigint') return { $bigint: value.toString() }
  if (typeof value === 'string') return isPlain(value) ? value : { $utf16: hexOf(value) }
  if (value instanceof Date) return { $date: value.toISOString() }
  if (Array.isArray(value)) return value.map(storable)
  if (typeof value === 'object' && value !== null) return mapValues(value, storable)
  if (typeof value === 'number' && !Number.isFinite(value)) throw new Error(`${value} in an order`)
  return value
}

/** Decodes a value that `storable` encoded. */
export function restored(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(restored)
  if (typeof value !== 'object' || value === null) return value
  const [[name, inner] = [], ...others] = Object.entries(value)
  const restore = name === undefined || others.length > 0 ? undefined : tagged[name]
  return restore ? restore(String(inner)) : mapValues(value, restored)
}

const tagged: Readonly<Record<string, (text: string) => unknown>> = {
  $bigint: BigInt,
  $date: (text) => new Date(text),
  $utf16: (text) => Buffer.from(text, 'hex').toString('utf16le'),
}

function isPlain(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

function hexOf(text: string): string {
  return Buffer.from(text, 'utf16le').toString('hex')
}

function mapValues(value: object, change: (inner: unknown) => unknown): object {
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))
}
