import type { FastifyRequest } from 'fastify'
import type { Refusal } from '../lib/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { mayBringPayment } from './payment-headers.ts'
import type { Limits } from './rate-limit.ts'

/**
 * Refuses a request that is above a limit, unless it may find the order that it has already paid for: a caller
 * who repeats a payment must not be told to wait as if there were no order. Looking for an order costs as much
 * as reading one, so it counts against the reading limit of the caller's address; nobody can use up that limit
 * for a buyer at another address.
 *
 * @throws Refusal the given one
 */
export async function holdUp(
  { reading }: Pick<Limits, 'reading'>,
  request: FastifyRequest,
  refusal: Refusal,
): Promise<void> {
  if (request.heldUp !== undefined) return
  const findsOrders = request.routeOptions.config?.findsOrders ?? false
  if (!findsOrders || !mayBringPayment(request)) throw refusal
  const looked = await reading.take(clientKeyOf(request.ip))
  if (!looked.allowed) throw refusal
  request.heldUp = refusal
}
