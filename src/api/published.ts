import * as z from 'zod'

/** A published record. Fields that are undefined are absent from the JSON. */
export type Published = Readonly<Record<string, unknown>>

/** Published fields: of each its shape and its value, so that neither is published without the other. */
export type Fields<From> = Readonly<
  Record<string, readonly [shape: z.ZodType, value: (from: From) => unknown]>
>

export function shapesOf(fields: Fields<never>): Readonly<Record<string, z.ZodType>> {
  return Object.fromEntries(Object.entries(fields).map(([name, [shape]]) => [name, shape]))
}

export function publish<F extends Fields<never>>(
  fields: F,
  from: Parameters<F[keyof F][1]>[0],
): { readonly [Name in keyof F]: ReturnType<F[Name][1]> } {
  const entries = Object.entries(fields as unknown as Fields<typeof from>)
  return Object.fromEntries(entries.map(([name, [, value]]) => [name, value(from)])) as {
    [Name in keyof F]: ReturnType<F[Name][1]>
  }
}

/** Amounts in the smallest units of an asset are texts, as they may exceed the numbers of JSON. */
export const atomic = z.string().regex(/^\d+$/)
export const time = z.iso.datetime()
export const transactionHash = z
  .string()
  .describe('Transaction hash on the network of the payment')
  .nullable()
