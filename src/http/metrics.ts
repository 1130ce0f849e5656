import type { FastifyInstance } from 'fastify'
import { Refusal } from '../lib/refusal.ts'
import { isOperator, type OperatorAccess } from './operator.ts'

export interface MetricsDeps extends OperatorAccess {
  readonly page: () => Promise<{ readonly contentType: string; readonly body: string }>
  readonly answered: (request: {
    readonly method: string
    readonly route: string
    readonly status: number
    readonly seconds: number
  }) => void
}

export function routeMetrics(app: FastifyInstance, deps: MetricsDeps): void {
  app.addHook('onResponse', (request, reply, done) => {
    deps.answered({
      method: request.method,
      route: request.routeOptions.url ?? 'none',
      status: reply.statusCode,
      seconds: reply.elapsedTime / 1_000,
    })
    done()
  })

  app.get('/metrics', async (request, reply) => {
    if (!isOperator(request, deps)) {
      throw new Refusal('not_found', 'There is nothing at this address.')
    }
    const { contentType, body } = await deps.page()
    return reply.header('cache-control', 'no-store').type(contentType).send(body)
  })
}
