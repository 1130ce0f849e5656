import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Viewer } from '../../orders/access.ts'
import type { LimitsDeps } from '../../orders/limits/keep.ts'
import type { OrderStore } from '../../orders/ports.ts'
import type { PurchaseDeps } from '../../orders/purchase.ts'
import type { PaymentPayload } from '../../payments/x402.ts'
import { Refusal } from '../../primitives/refusal.ts'
import type { SignInDeps } from '../sign-in.ts'
import { signedInWallet } from '../sign-in.ts'
import type { Site } from '../site.ts'

/** What the routes that buy, show and refund orders need. */
export interface BuyingDeps {
  readonly site: Site
  readonly purchases: PurchaseDeps
  readonly orders: OrderStore
  /** The limits that wallets set themselves. */
  readonly guardrails: LimitsDeps
  readonly signIn: SignInDeps
}

const keyPattern = /^[A-Za-z0-9_-]{16,128}$/

/**
 * What a request shows of who sends it.
 *
 * @throws Refusal `invalid_header`, `sign_in_invalid`
 */
export async function viewerOf(
  deps: BuyingDeps,
  request: FastifyRequest,
  payment?: PaymentPayload,
): Promise<Viewer> {
  const keys = [idempotencyKeyOf(request), paymentIdentifierOf(payment)]
  return {
    accessToken: bearerOf(request),
    wallet: await signedInWallet(deps.signIn, request.headers['sign-in-with-x']),
    keys: [...new Set(keys.filter((key) => key !== undefined))],
  }
}

/** The `Idempotency-Key` of a request, or undefined. @throws Refusal `invalid_header` */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key === 'string' && keyPattern.test(key)) return key
  throw badKey('Idempotency-Key')
}

/** How long the buyer wants to wait, by `Prefer: respond-async` or `Prefer: wait=3` (RFC 7240). */
export function preferredWaitMs({ headers }: FastifyRequest): number | undefined {
  const prefer = [headers['prefer']].flat().join(',')
  const [, seconds] = /(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])/i.exec(prefer) ?? []
  if (seconds !== undefined) return Number(seconds) * 1_000
  return /(?:^|[,;\s])respond-async(?:$|[,;\s])/i.test(prefer) ? 0 : undefined
}

/** Nothing about an order may be kept by a cache on the way. */
export function privately(reply: FastifyReply): FastifyReply {
  return reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer')
}

/** The flat fields of a JSON body. @throws Refusal `invalid_json` when it is not an object */
export function fieldsOf(body: unknown): Record<string, unknown> {
  if (body === undefined || body === null) return {}
  if (typeof body !== 'object' || Array.isArray(body)) {
    throw new Refusal('invalid_json', 'The body must be a JSON object.')
  }
  return { ...body }
}

function bearerOf({ headers }: FastifyRequest): string | undefined {
  const [, token] = /^Bearer ([A-Za-z0-9_-]{1,200})$/i.exec(headers.authorization ?? '') ?? []
  return token
}

/** The x402 extension's id plays the part of an idempotency key (decisions 4). */
function paymentIdentifierOf(payment: PaymentPayload | undefined): string | undefined {
  const declared = payment?.extensions?.['payment-identifier']
  if (typeof declared !== 'object' || declared === null || !('info' in declared)) return undefined
  const { info } = declared
  if (typeof info !== 'object' || info === null || !('id' in info)) return undefined
  if (typeof info.id === 'string' && keyPattern.test(info.id)) return info.id
  throw badKey('payment-identifier')
}

function badKey(parameter: string): Refusal {
  const message = `${parameter} must be 16 to 128 characters of A-Z a-z 0-9 _ and -.`
  return new Refusal('invalid_header', message, { parameter, charged: 'no' })
}

/**
 * Looks something up for whoever asks about an order. When the records cannot be read just now,
 * the asker hears that the same call will do later; what went wrong is for the operator.
 *
 * @param charged whether money moved, on paths that say so: nobody knows while nothing can be read
 * @throws Refusal `try_again`, besides what `look` throws
 */
export async function orNotNow<T>(
  request: FastifyRequest,
  look: () => Promise<T>,
  charged?: 'unknown',
): Promise<T> {
  try {
    return await look()
  } catch (error) {
    if (error instanceof Refusal) throw error
    request.log.error({ err: error }, 'records not readable')
    const message = 'The records cannot be read just now. Send the same request again.'
    throw new Refusal('try_again', message, {
      retryAfterSeconds: 5,
      ...(charged === undefined ? {} : { charged }),
    })
  }
}
