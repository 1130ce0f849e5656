import { extremeValues, unicodePieces } from './pieces.ts'
import type { Random } from './random.ts'

/** Changes a text at up to `most` random places: inserts, deletes or repeats pieces. Rarely changes its case. */
export function mutatedText(
  random: Random,
  text: string,
  pieces: readonly string[],
  most: number,
): string {
  let result = text
  for (let left = 1 + random.below(most); left > 0; left -= 1) {
    const at = random.below(result.length + 1)
    const cut = random.chance(0.4) ? random.below(9) : 0
    const put = random.chance(0.8) ? random.pick(pieces) : result.slice(at, at + random.below(40))
    result = result.slice(0, at) + put + result.slice(at + cut)
  }
  return random.chance(0.05) ? otherCase(result) : result
}

/** Flips one bit of one character: an input that is nearly right gets further than others. */
export function nearlyText(random: Random, text: string): string {
  if (text === '') return 'x'
  const at = random.below(text.length)
  const code = text.charCodeAt(at) ^ (1 << random.below(7))
  return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1)
}

/** A copy of a JSON value with one to three changes at random places. */
export function mutatedJson(random: Random, value: unknown): unknown {
  let result = value
  for (let left = 1 + random.below(3); left > 0; left -= 1) result = changedOnce(random, result)
  return result
}

function changedOnce(random: Random, value: unknown): unknown {
  const isTree = typeof value === 'object' && value !== null
  if (!isTree || random.chance(0.1)) return replaced(random, value)
  const keys = Object.keys(value)
  if (keys.length === 0 || random.chance(0.15)) return withMore(random, value)
  const key = random.pick(keys)
  const kept = Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
  if (random.chance(0.12)) return Array.isArray(value) ? Object.values(kept) : kept
  if (random.chance(0.08)) return { ...kept, [otherCase(key)]: (value as never)[key] }
  const changed = changedOnce(random, (value as Record<string, unknown>)[key])
  if (!Array.isArray(value)) return { ...value, [key]: changed }
  return value.map((item, at) => (String(at) === key ? changed : item))
}

function replaced(random: Random, value: unknown): unknown {
  if (typeof value === 'string' && random.chance(0.5)) {
    return random.chance(0.5)
      ? nearlyText(random, value)
      : mutatedText(random, value, unicodePieces, 2)
  }
  if (typeof value === 'number' && random.chance(0.3)) return value + random.pick([1, -1, 0.1, 1e9])
  if (random.chance(0.04)) return nested(random, 1 + random.below(3_000))
  return random.pick(extremeValues)
}

const oddNames = ['__proto__', 'constructor', 'prototype', 'toString', 'extra', '', '\u0000', 'a.b']

function withMore(random: Random, value: object): unknown {
  if (Array.isArray(value)) return [...value, random.pick(extremeValues)]
  const more: Record<string, unknown> = { ...value }
  const many = random.chance(0.05) ? 500 : 1
  for (let count = 0; count < many; count += 1) {
    const name = many > 1 ? `k${count}` : random.pick(oddNames)
    // Defined as an own property: an assignment to __proto__ would not appear in the JSON.
    const field = { value: random.pick(extremeValues), enumerable: true, configurable: true }
    Object.defineProperty(more, name, field)
  }
  return more
}

/** A value this many levels deep. */
function nested(random: Random, levels: number): unknown {
  const asArray = random.chance(0.5)
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = asArray ? [value] : { a: value }
  return value
}

function otherCase(text: string): string {
  return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase()
}
