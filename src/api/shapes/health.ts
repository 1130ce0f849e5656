import * as z from 'zod'

/** The published shapes of the store's own health. */

export const LiveAnswer = z.object({ status: z.literal('ok') }).meta({ id: 'Live' })

const PartHealth = z
  .object({
    state: z.enum(['healthy', 'degraded', 'down']),
    detail: z.string().describe('For the operator, in words'),
  })
  .meta({ id: 'PartHealth' })

export const ReadyAnswer = z
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
