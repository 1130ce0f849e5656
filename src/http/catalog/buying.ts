import type { PaymentRequired } from '@x402/core/types'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Credentials, keyOf } from '../../api/buying/viewer.ts'
import { echoOf } from '../../catalog/search/param-source.ts'
import { Refusal } from '../../lib/refusal.ts'
import { answer402 } from '../payment-headers.ts'

/** What a request shows of who sends it. @throws Refusal `invalid_header` */
export function credentialsIn(request: FastifyRequest): Credentials {
  return {
    accessToken: bearerOf(request),
    signIn: request.headers['sign-in-with-x'],
    idempotencyKey: idempotencyKeyOf(request),
  }
}

/** The `Idempotency-Key` of a request, or undefined. @throws Refusal `invalid_header` */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  return keyOf(headers['idempotency-key'], 'Idempotency-Key')
}

/** How long the buyer wants to wait, by `Prefer: respond-async` or `Prefer: wait=3` (RFC 7240). */
export function preferredWaitMs({ headers }: FastifyRequest): number | undefined {
  const prefer = [headers['prefer']].flat().join(',')
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])/i.exec(prefer) ?? []
  if (seconds !== undefined) return Number(seconds) * 1_000
  return /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(prefer) ? 0 : undefined
}

/** Answers 402 with nothing to pay and a challenge to sign. */
export function sendSignInRequired(reply: FastifyReply, required: PaymentRequired): FastifyReply {
  return answer402(reply, required, {
    message:
      'Sign the challenge in extensions["sign-in-with-x"] with the paying wallet and send it as SIGN-IN-WITH-X. Nothing is charged.',
  })
}

/** Nothing about an order may be kept by a cache on the way. */
export function privately(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
}

/**
 * The flat fields of the JSON body of a request. Fields in its query are refused: without them the body
 * would be empty, and a purchase would ask for the price of another offer.
 *
 * @throws Refusal `unknown_parameter`, or `invalid_json` when the body is not an object
 */
export function postedFields({ body, raw: { method, url = '' } }: FastifyRequest) {
  const [, query = ''] = url.split(/[?](.*)/s)
  const [parameter] = new URLSearchParams(query).keys()
  if (parameter !== undefined) {
    const shown = echoOf(parameter)
    const message = `${shown} is in the query. ${method} takes its fields as JSON in the body.`
    throw new Refusal('unknown_parameter', message, { parameter: shown })
  }
  return fieldsOf(body)
}

function fieldsOf(body: unknown): Record<string, unknown> {
  if (body === undefined || body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw new Refusal('invalid_json', 'The body must be a JSON object.')
  }
  return { ...body }
}

/** The token in `Authorization`, or undefined. */
export function bearerOf({ headers }: FastifyRequest): string | undefined {
  const [, token] = /^Bearer ([A-Za-z0-9._-]{1,200})$/i.exec(headers.authorization ?? '') ?? []
  return token
}
