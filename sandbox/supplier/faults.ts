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
 */
export const faultSchema = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('ok') }),
  z.object({ mode: z.literal('down'), only }),
  z.object({ mode: z.literal('drop'), only }),
  z.object({ mode: z.literal('slow'), only, delayMs: z.int().min(0).max(600_000).default(2000) }),
])

export type Fault = z.infer<typeof faultSchema>
