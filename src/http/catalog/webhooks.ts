import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { BuyingDeps } from '../../api/buying/deps.ts'
import { redelivered, webhookOf } from '../../api/buying/webhooks.ts'
import { redeliverPath, webhookPath } from '../../api/paths.ts'
import { Refusal } from '../../lib/refusal.ts'
import { credentialsIn, postedFields, privately } from './buying.ts'

/** What became of the events of an order, and having them sent again. */
export function routeWebhooks(app: FastifyInstance, deps: BuyingDeps): void {
  app.get(webhookPath(':orderId'), { config: { limit: 'reading' } }, async (request, reply) => {
    const shown = () => credentialsIn(request)
    return privately(reply).send(await webhookOf(deps, orderIdOf(request), shown, request.log))
  })
  app.post(redeliverPath(':orderId'), { config: { limit: 'purchase' } }, async (request, reply) => {
    const [parameter] = Object.keys(postedFields(request))
    if (parameter !== undefined) {
      const message = 'The body must be empty: all events of the order are sent again.'
      throw new Refusal('unknown_parameter', message)
    }
    const shown = () => credentialsIn(request)
    const answer = await redelivered(deps, orderIdOf(request), shown, request.log)
    return privately(reply).status(202).send(answer)
  })
}

function orderIdOf(request: FastifyRequest): string {
  return (request.params as { orderId: string }).orderId
}
