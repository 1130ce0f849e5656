import { invalid } from '../errors.ts'

/** A query as Fastify reads it: a parameter given once is a string, a repeated one is a list. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>
type Value = Query[string]

export function listOf(value: Value): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

export function flag(value: Value): boolean {
  return String(value).toLowerCase() === 'true'
}

/** @throws ApiError 422 if it is given and not a whole number */
export function numberOf(name: string, value: Value): number | undefined {
  if (value === undefined || value === '') return undefined
  if (!/^\d{1,9}$/.test(String(value))) {
    throw invalid(name, `The value '${String(value)}' is not valid.`)
  }
  return Number(value)
}
