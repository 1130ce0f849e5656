import { echoOf, type ParamSource, unknownParameter } from '../catalog/search/param-source.ts'
import { refused } from '../catalog/search/params.ts'

type Arguments = Readonly<Record<string, unknown>>

const controlCharacters = /\p{Cc}/u

/**
 * The arguments of a tool as the parameters of an operation, so that the same code reads them as a query. A number
 * is equal to its text, and a list to its items joined by commas.
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

/** The arguments that are not null: many callers send null for an argument that they leave out. */
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

/** A boolean argument. @throws Refusal `invalid_parameter` */
export function flagIn(args: Arguments, name: string): boolean {
  const value = args[name] ?? false
  if (typeof value === 'boolean') return value
  if (value === 'true' || value === 'false' || value === '') return value === 'true'
  throw refused(name, `${name} must be true or false.`)
}

/** A string argument, trimmed; undefined if it is empty. @throws Refusal `invalid_parameter` */
export function textIn(args: Arguments, name: string): string | undefined {
  const value = args[name]
  if (value === undefined || typeof value === 'string') return value?.trim() || undefined
  throw refused(name, `${name} must be text.`)
}

/** All arguments except these. */
export function without(args: Arguments, names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([name]) => !names.includes(name)))
}

/** All arguments except empty strings: models send them for arguments that they leave out. */
export function withoutEmpty(args: Arguments): Record<string, unknown> {
  return Object.fromEntries(Object.entries(args).filter(([, value]) => value !== ''))
}
