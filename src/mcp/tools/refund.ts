import { keyForm } from '../../api/buying/credentials.ts'
import { maxReason, ownedBy, refundClaimed, refundWatched } from '../../api/orders/refund.ts'
import { refused } from '../../catalog/search/params.ts'
import { Refusal } from '../../lib/refusal.ts'
import { textIn, without, withoutEmpty } from '../arguments.ts'
import { credentialsIn, keyIn } from '../proofs.ts'
import { argumentSchema } from '../schemas.ts'
import type { Tool, ToolCall, ToolDeps } from '../tool.ts'

export const refund: Tool = {
  name: 'refund',
  title: 'Refund',
  description:
    'The refund of an order that failed: its state or, with an idempotency_key, a claim. Refunds start automatically, so a claim is never needed; it retries one that could not be paid. The full amount always goes to the wallet that paid, never anywhere else. Delivered goods are not refunded. Free.',
  inputSchema: argumentSchema(
    {
      orderId: { type: 'string', description: 'From the answer to buy' },
      idempotency_key: {
        type: 'string',
        description: `Makes the call a claim. Yours, of ${keyForm}, and new for each claim`,
      },
      access_token: {
        type: 'string',
        description:
          'Only with a claim: the accessToken of the purchase, if you have it. Claims by strangers then do not use up yours',
      },
      reason: {
        type: 'string',
        description: `Only with a claim: why, in at most ${maxReason} characters`,
      },
    },
    ['orderId'],
  ),
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  },
  app: 'order',
  limit: (args) => (keyIn(args) === undefined ? 'reading' : 'purchase'),
  charges: true,
  run: refunded,
}

async function refunded(call: ToolCall, { buying }: ToolDeps) {
  const { args, log, client } = call
  const key = keyIn(args)
  const orderId = textIn(args, 'orderId')
  if (orderId === undefined) {
    throw refused('orderId', 'orderId is required: the one in the answer to buy.')
  }
  const fields = withoutEmpty(without(args, ['orderId', 'idempotency_key', 'access_token']))
  const owned = () => ownedBy(buying, credentialsIn(call))
  const report =
    key === undefined
      ? await watched(buying, orderId, fields, log)
      : await refundClaimed(buying, { orderId, key, fields, client, isOwn: owned() }, log)
  return { type: 'answer' as const, body: report.body }
}

/** The state of a refund. A call without a key that has other fields is meant as a claim, and is refused. */
async function watched(
  buying: ToolDeps['buying'],
  orderId: string,
  fields: Record<string, unknown>,
  log: ToolCall['log'],
) {
  if (Object.keys(fields).length === 0) return refundWatched(buying, orderId, log)
  const message = 'A refund claim needs an idempotency_key.'
  throw new Refusal('idempotency_key_missing', message, { parameter: 'idempotency_key' })
}
