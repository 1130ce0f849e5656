import { echoOf, type ParamSource, unknownParameter } from '../catalog/search/param-source.ts'
import { refused } from '../catalog/search/params.ts'

type Arguments = Readonly<Record<string, unknown>>

const controlCharacters = /\p{Cc}/u

/**
 * Arguments of a tool as what was given for an operation, so that they are read by the same readers
 * as a query. A number and its text are the same there, and so are a list and its items with commas.
 */
export function inArguments(args: Arguments): ParamSource {
  return (known) =>
    new Map(
      Object.entries(args).map(([name, value]) => {
        if (!known.includes(name)) throw unknownParameter(name, known)
        return [name, textOf(name, value)]
      }),
    )
}

/** The arguments that were given: null is how many callers leave one out. */
export function givenIn(args: Arguments | undefined): Arguments {
  const given = Object.entries(args ?? {}).filter(([, value]) => value !== null)
  return Object.fromEntries(given)
}

/** @throws Refusal `invalid_parameter` */
function textOf(name: string, value: unknown): string {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (!items.every(isPlain)) {
    throw refused(echoOf(name), `${echoOf(name)} must be text, a number, or true or false.`)
  }
  const text = items.join(',').trim()
  if (controlCharacters.test(text)) {
    throw refused(echoOf(name), `${echoOf(name)} must not have control characters.`)
  }
  return text
}

function isPlain(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}

/** An argument that is true or false. @throws Refusal `invalid_parameter` */
export function flagIn(args: Arguments, name: string): boolean {
  const value = args[name] ?? false
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'false' || value === '') return value === 'true'
  throw refused(name, `${name} must be true or false.`)
}

/** An argument that is a text. @throws Refusal `invalid_parameter` */
export function textIn(args: Arguments, name: string): string | undefined {
  const value = args[name]
  if (value === undefined || typeof value === 'string') return value?.trim() || undefined
  throw refused(name, `${name} must be text.`)
}

/** All arguments but these. */
export function without(args: Arguments, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)))
}

/** All arguments but those that are empty texts, which is how models leave one out. */
export function withoutEmpty(args: Arguments): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== ''))
}
