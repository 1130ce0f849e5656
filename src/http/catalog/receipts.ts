import type { FastifyInstance } from 'fastify'
import type { BuyingDeps } from '../../desk/buying/deps.ts'
import { receiptOf } from '../../desk/buying/receipts.ts'
import { receiptPath } from '../../desk/paths.ts'
import { privately, shownBy } from './buying.ts'

/** Signed receipts, free. */
export function routeReceipts(app: FastifyInstance, deps: BuyingDeps): void {
  app.get(receiptPath(':orderId'), { config: { limit: 'reading' } }, async (request, reply) => {
    const { orderId } = request.params as { orderId: string }
    const receipt = await receiptOf(deps, orderId, () => shownBy(request), request.log)
    return privately(reply).send(receipt)
  })
}
