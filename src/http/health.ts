import type { FastifyInstance } from 'fastify'
import { live, ready as readiness } from '../desk/store-operations.ts'
import type { Vitals } from '../health/vitals.ts'

/**
 * For whoever runs the process: `/livez` says that it answers at all, `/readyz` that it can take
 * purchases, and if not, which part is the reason.
 */
export function routeHealth(app: FastifyInstance, vitals: Pick<Vitals, 'parts' | 'signals'>): void {
  app.get(live.path, (_, reply) => reply.header('cache-control', 'no-store').send({ status: 'ok' }))

  app.get(readiness.path, (_, reply) => {
    const ready = vitals.signals().agent_action !== 'stop'
    return reply
      .status(ready ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status: ready ? 'ready' : 'not_ready', parts: vitals.parts() })
  })
}
