import type { FastifyInstance } from 'fastify'
import type { BuyingDeps } from '../../api/buying/deps.ts'
import { receiptOf } from '../../api/buying/receipts.ts'
import { receiptPath } from '../../api/paths.ts'
import { credentialsIn, privately } from './buying.ts'

/** Signed receipts, free. */
export function routeReceipts(app: FastifyInstance, deps: BuyingDeps): void {
  app.get(receiptPath(':orderId'), { config: { limit: 'reading' } }, async (request, reply) => {
    const { orderId } = request.params as { orderId: string }
    const receipt = await receiptOf(deps, orderId, () => credentialsIn(request), request.log)
    return privately(reply).send(receipt)
  })
}
