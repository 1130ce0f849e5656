/** A JSON object as the supplier sent it, unchecked. */
export type Raw = Readonly<Record<string, unknown>>

// Control characters and marks that reorder text; the first set leaves line breaks and tabs alone.
const unwantedInText = /(?![\n\t])\p{Cc}|[\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/gu
const unwantedInLine = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff\s]+/gu

/** The value as an object, or undefined when it is anything else. */
export function recordOf(value: unknown): Raw | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isRecord ? (value as Raw) : undefined
}

/** The value as a list; anything else counts as an empty one. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** One line of clean text, cut to `max` characters. Empty or no text gives undefined. */
export function lineOf(value: unknown, max: number): string | undefined {
  return typeof value === 'string' ? cleaned(value, unwantedInLine, ' ', max) : undefined
}

/** Clean text that may have line breaks, cut to `max` characters. */
export function textOf(value: unknown, max: number): string | undefined {
  return typeof value === 'string' ? cleaned(value, unwantedInText, '', max) : undefined
}

/** The lines of a list, without empty ones, duplicates and items that are not text. */
export function linesOf(value: unknown, max: { items: number; length: number }): string[] {
  const lines = listOf(value).map((item) => lineOf(item, max.length))
  const present = lines.filter((line) => line !== undefined)
  return [...new Set(present)].slice(0, max.items)
}

/** A number above zero, or undefined: the supplier writes 0 where a field does not apply. */
export function positiveOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value > 0 ? value : undefined
}

export function wholePositiveOf(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? positiveOf(value) : undefined
}

/** Leaves out the fields that are undefined: a field that does not apply is absent. */
export function present<T extends object>(fields: T): Present<T> {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  return Object.fromEntries(entries) as Present<T>
}

type Present<T> = {
  [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key]
} & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>
}

function cleaned(text: string, unwanted: RegExp, instead: string, max: number): string | undefined {
  const clean = text.replace(unwanted, instead).trim()
  const short = clean.length > max ? clean.slice(0, max) : clean
  // Cutting may leave half of a character pair, which no database or client can encode.
  return short === '' ? undefined : short.toWellFormed()
}
