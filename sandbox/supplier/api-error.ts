import type { z } from 'zod'

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

/** 400 with a sentence for each faulty field. */
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
export function parsed<T>(schema: z.ZodType<T>, input: unknown): T {
  const result = schema.safeParse(input)
  if (result.success) return result.data
  const fields = result.error.issues.map((issue) => [issue.path.join('.') || 'body', issue.message])
  throw invalid(Object.fromEntries(fields))
}
