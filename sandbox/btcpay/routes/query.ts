import { invalid } from '../errors.ts'

/** A query as Fastify reads it: what is given once is a text, what is given again a list. */
export type Query = Readonly<Record<string, string | readonly string[] | undefined>>
type Value = Query[string]

export function listOf(value: Value): readonly string[] {
  if (value === undefined) return []
  return typeof value === 'string' ? [value] : value
}

export function flag(value: Value): boolean {
  return String(value).toLowerCase() === 'true'
}

/** @throws ApiError 422 when it is given and no whole number */
export function numberOf(name: string, value: Value): number | undefined {
  if (value === undefined || value === '') return undefined
  if (!/^\d{1,9}$/.test(String(value))) {
    throw invalid(name, `The value '${String(value)}' is not valid.`)
  }
  return Number(value)
}
