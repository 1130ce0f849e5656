import type { Dice } from './dice.ts'
import { extremeValues, unicodePieces } from './pieces.ts'

/** Changes a text at up to `most` random places: pieces put in, cut out, doubled, or turned round. */
export function mutatedText(
  dice: Dice,
  text: string,
  pieces: readonly string[],
  most: number,
): string {
  let result = text
  for (let left = 1 + dice.below(most); left > 0; left -= 1) {
    const at = dice.below(result.length + 1)
    const cut = dice.chance(0.4) ? dice.below(9) : 0
    const put = dice.chance(0.8) ? dice.pick(pieces) : result.slice(at, at + dice.below(40))
    result = result.slice(0, at) + put + result.slice(at + cut)
  }
  return dice.chance(0.05) ? otherCase(result) : result
}

/** The same, one character for its neighbour: what is nearly right goes deeper than what is not. */
export function nearlyText(dice: Dice, text: string): string {
  if (text === '') return 'x'
  const at = dice.below(text.length)
  const code = text.charCodeAt(at) ^ (1 << dice.below(7))
  return text.slice(0, at) + String.fromCharCode(code) + text.slice(at + 1)
}

/** A copy of a JSON value with one to three changes at random places in its tree. */
export function mutatedJson(dice: Dice, value: unknown): unknown {
  let result = value
  for (let left = 1 + dice.below(3); left > 0; left -= 1) result = changedOnce(dice, result)
  return result
}

function changedOnce(dice: Dice, value: unknown): unknown {
  const isTree = typeof value === 'object' && value !== null
  if (!isTree || dice.chance(0.1)) return replaced(dice, value)
  const keys = Object.keys(value)
  if (keys.length === 0 || dice.chance(0.15)) return withMore(dice, value)
  const key = dice.pick(keys)
  const kept = Object.fromEntries(Object.entries(value).filter(([name]) => name !== key))
  if (dice.chance(0.12)) return Array.isArray(value) ? Object.values(kept) : kept
  if (dice.chance(0.08)) return { ...kept, [otherCase(key)]: (value as never)[key] }
  const changed = changedOnce(dice, (value as Record<string, unknown>)[key])
  if (!Array.isArray(value)) return { ...value, [key]: changed }
  return value.map((item, at) => (String(at) === key ? changed : item))
}

function replaced(dice: Dice, value: unknown): unknown {
  if (typeof value === 'string' && dice.chance(0.5)) {
    return dice.chance(0.5) ? nearlyText(dice, value) : mutatedText(dice, value, unicodePieces, 2)
  }
  if (typeof value === 'number' && dice.chance(0.3)) return value + dice.pick([1, -1, 0.1, 1e9])
  if (dice.chance(0.04)) return nested(dice, 1 + dice.below(3_000))
  return dice.pick(extremeValues)
}

const oddNames = ['__proto__', 'constructor', 'prototype', 'toString', 'extra', '', '\u0000', 'a.b']

function withMore(dice: Dice, value: object): unknown {
  if (Array.isArray(value)) return [...value, dice.pick(extremeValues)]
  const more: Record<string, unknown> = { ...value }
  const many = dice.chance(0.05) ? 500 : 1
  for (let count = 0; count < many; count += 1) {
    const name = many > 1 ? `k${count}` : dice.pick(oddNames)
    // Written as an own field: an assignment to __proto__ would be none in the text.
    const field = { value: dice.pick(extremeValues), enumerable: true, configurable: true }
    Object.defineProperty(more, name, field)
  }
  return more
}

/** A value this many levels deep. */
function nested(dice: Dice, levels: number): unknown {
  const asArray = dice.chance(0.5)
  let value: unknown = 1
  for (let level = 0; level < levels; level += 1) value = asArray ? [value] : { a: value }
  return value
}

function otherCase(text: string): string {
  return text === text.toLowerCase() ? text.toUpperCase() : text.toLowerCase()
}
