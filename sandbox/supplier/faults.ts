import * as z from 'zod'
import { parsedOr } from '../part.ts'

/** An answer that refuses the request, in the form of Zendit's errors. */
export class ApiError extends Error {
  readonly status: number
  readonly errorCode: string
  readonly fields: Readonly<Record<string, string>>

  constructor(
    status: number,
    errorCode: string,
    message: string,
    fields: Readonly<Record<string, string>> = {},
  ) {
    super(message)
    this.status = status
    this.errorCode = errorCode
    this.fields = fields
  }
}

export function invalid(fields: Readonly<Record<string, string>>): ApiError {
  return new ApiError(400, 'INVALID_REQUEST', 'The request is not valid.', fields)
}

export function notFound(what: string): ApiError {
  return new ApiError(404, 'NOT_FOUND', `${what} was not found.`)
}

export function unavailable(): ApiError {
  return new ApiError(503, 'SYSTEM_UNAVAILABLE', 'The system is unavailable. Try again later.')
}

/** `input` parsed by `schema`. @throws ApiError 400 that names each faulty field */
export function parsed<Schema extends z.ZodType>(schema: Schema, input: unknown): z.infer<Schema> {
  return parsedOr(schema, input, (faults) =>
    invalid(Object.fromEntries(faults.map(({ path, message }) => [path || 'body', message]))),
  )
}

const only = z.string().default('')

/**
 * How the supplier misbehaves, for tests. `only` limits this to paths that contain the text.
 * - `down`: every answer is 503. `drop`: connections are cut without an answer.
 * - `slow`: every answer waits `delayMs`.
 * - `partial`: offer lists are empty from offset `after` on, but `total` is unchanged.
 * - `shift`: for the next `reads` pages after the first of a list, its first offer has moved to its end.
 */
export const faultSchema = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('ok') }),
  z.object({ mode: z.literal('down'), only }),
  z.object({ mode: z.literal('drop'), only }),
  z.object({ mode: z.literal('slow'), only, delayMs: z.int().min(0).max(600_000).default(2000) }),
  z.object({ mode: z.literal('partial'), after: z.int().min(0).default(1024) }),
  z.object({ mode: z.literal('shift'), reads: z.int().min(0).default(1) }),
])

export type Fault = z.infer<typeof faultSchema>

/**
 * How the supplier treats purchases of one offer, for tests. Fields that are absent change nothing.
 * - `lostAnswer`: a purchase is made, and its answer is a 503.
 * - `hiddenMs`: look-ups are answered 404 for this long after the purchase was accepted.
 * - `duplicates`: whether the refusal of a used transactionId names that field.
 * - `endsAfterMs`: how long after its acceptance a purchase ends.
 * - `goodsAfterMs`: how long a record is DONE before it shows its goods.
 * - `receipt`: which parts of a voucher its record shows; with `email`, the goods are only in a mail.
 * - `dearer`: by how many cents the cost and the price have risen since the list was read.
 * - `refund`: how the refund of an eSIM ends.
 */
export const mannerSchema = z.object({
  lostAnswer: z.boolean().default(false),
  hiddenMs: z.int().min(0).default(0),
  duplicates: z.enum(['named', 'bare']).default('named'),
  endsAfterMs: z.int().min(0).optional(),
  goodsAfterMs: z.int().min(0).default(0),
  receipt: z.enum(['usual', 'link', 'email']).default('usual'),
  dearer: z.int().min(0).default(0),
  refund: z.enum(['done', 'fails', 'stays']).default('done'),
})

export type Manner = z.infer<typeof mannerSchema>
