import * as z from 'zod'
import type { Parts } from '../../health/signals.ts'
import { answers, type StoreOperation } from '../operation.ts'

/** Probes for balancers and supervisors: whether the process answers, and whether it can take purchases. */

const LiveAnswer = z.object({ status: z.literal('ok') }).meta({ id: 'Live' })

const PartHealth = z
  .object({
    state: z.enum(['healthy', 'degraded', 'down']),
    detail: z
      .string()
      .optional()
      .describe('Why, in words; only for the operator, with METRICS_TOKEN as Bearer token'),
  })
  .meta({ id: 'PartHealth' })

const ReadyAnswer = z
  .object({
    status: z.enum(['ready', 'not_ready', 'draining']),
    parts: z.object({
      supplier: PartHealth,
      chain: PartHealth,
      database: PartHealth,
      catalog: PartHealth,
      refunds: PartHealth,
      gas: PartHealth,
    }),
  })
  .meta({ id: 'Ready' })

const health = {
  method: 'GET',
  group: 'Store',
  refusals: [],
  access: 'free',
  cacheControl: 'no-store',
} as const

export const live: StoreOperation = {
  ...health,
  id: 'live',
  path: '/livez',
  name: 'Is the process alive',
  description: 'Answers as long as the process does.',
  answers: answers('It is', LiveAnswer),
  run: () => ({ body: { status: 'ok' } }),
}

export const ready: StoreOperation = {
  ...health,
  id: 'ready',
  path: '/readyz',
  name: 'Does the store take purchases',
  description:
    'The health of each part. With 503 purchases are refused until every part is back; then they go on by themselves.',
  answers: {
    200: { description: 'It does', shape: ReadyAnswer },
    503: { description: 'It does not; the parts say which is down', shape: ReadyAnswer },
  },
  // A store that is stopping is not ready, but still serves every request.
  run({ health: { signals, parts }, draining }, { isOperator }) {
    const isWell = signals().agent_action !== 'stop'
    const status = draining.aborted ? 'draining' : isWell ? 'ready' : 'not_ready'
    const shown = isOperator ? parts() : statesOf(parts())
    return { status: status === 'ready' ? 200 : 503, body: { status, parts: shown } }
  },
}

/** The parts without their details, which have balances of the store and words of its suppliers and its database. */
function statesOf(parts: Parts) {
  return Object.fromEntries(Object.entries(parts).map(([part, { state }]) => [part, { state }]))
}
