import type { FastifyRequest } from 'fastify'
import type { Refusal } from '../lib/refusal.ts'
import { clientKeyOf } from './client-key.ts'
import { mayBringPayment } from './payment-headers.ts'
import type { Limits } from './rate-limit.ts'

/**
 * Turns a request away that is above a limit, unless it may find the order that it has already paid
 * for: who sends a payment again must not be told to wait, as if nothing had come of it. Looking for
 * an order costs what reading one does, and counts as that, for the address that asks. So nobody can
 * use the limit up for a buyer at another address.
 *
 * @throws Refusal the one that is given
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
