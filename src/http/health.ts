import type { FastifyInstance } from 'fastify'
import { live, ready as readiness } from '../api/store-operations.ts'
import type { Health } from '../health/health.ts'

/**
 * For whoever runs the process: `/livez` says that it answers at all, `/readyz` that it can take
 * purchases, and if not, which part is the reason. A store that was told to stop is not ready from
 * then on, and still serves whoever comes.
 *
 * @param draining aborted when the store is told to stop
 */
export function routeHealth(
  app: FastifyInstance,
  health: Pick<Health, 'parts' | 'signals'>,
  draining: AbortSignal,
): void {
  const probe = { config: { isProbe: true } }
  app.get(live.path, probe, (_, reply) =>
    reply.header('cache-control', 'no-store').send({ status: 'ok' }),
  )

  app.get(readiness.path, probe, (_, reply) => {
    const isWell = health.signals().agent_action !== 'stop'
    const status = draining.aborted ? 'draining' : isWell ? 'ready' : 'not_ready'
    return reply
      .status(status === 'ready' ? 200 : 503)
      .header('cache-control', 'no-store')
      .send({ status, parts: health.parts() })
  })
}
