import type { z } from 'zod'
import { parsedOr } from '../part.ts'

/** An answer that refuses a request, in one of Greenfield's two shapes. */
export class ApiError extends Error {
  readonly status: number
  /** ProblemDetails, or the array of ValidationProblemDetails. */
  readonly body: unknown

  constructor(status: number, message: string, body: unknown) {
    super(message)
    this.status = status
    this.body = body
  }
}

/** ProblemDetails: a code for programs, and a sentence. */
export function problem(status: number, code: string, message: string): ApiError {
  return new ApiError(status, message, { code, message })
}

/** ValidationProblemDetails: a sentence for each faulty field. */
export function invalid(path: string, message: string): ApiError {
  return new ApiError(422, message, [{ path, message }])
}

export function forbidden(missingPermission: string): ApiError {
  const message = `Insufficient API Permissions. This key has no "${missingPermission}" for that store.`
  return new ApiError(403, message, { code: 'missing-permission', message, missingPermission })
}

export function notFound(what: 'invoice' | 'payout' | 'pullpayment') {
  return problem(404, `${what}-not-found`, `The ${what} was not found`)
}

/** `input` parsed by `schema`. @throws ApiError 422 that names each faulty field */
export function parsed<Schema extends z.ZodType>(schema: Schema, input: unknown): z.infer<Schema> {
  return parsedOr(schema, input, (faults) => {
    const summary = faults.map(({ path, message }) => `${path}: ${message}`).join('; ')
    return new ApiError(422, summary, faults)
  })
}
