import type { Vault } from '../../secrets/secrets.ts'
import type { Reporter } from '../ports.ts'
import { createSweeper, type Sweeper } from '../workflow.ts'
import { backOffMs, callFor, type WebhookTarget } from './message.ts'
import {
  type Delivery,
  type DeliveryResult,
  maxRetryAfterMs,
  type PostResult,
  type PostWebhook,
  type WebhookStore,
} from './ports.ts'

export interface SenderDeps {
  readonly webhooks: Pick<WebhookStore, 'claimDue' | 'end'>
  readonly post: PostWebhook
  readonly vault: Pick<Vault, 'open'>
  readonly now: () => Date
  readonly report: Reporter
  readonly count: (outcome: 'delivered' | 'failed' | 'given_up') => void
  readonly random?: () => number
}

const maxAtOnce = 50

/** Sends due events. A receiver that does not answer holds up only its own events. */
export function createWebhookSender(deps: SenderDeps): Sweeper {
  return createSweeper({
    claimDue: (limit) => deps.webhooks.claimDue(limit),
    work: (delivery) => deliver(deps, delivery),
    failed: ({ order }, error) => deps.report({ name: 'webhook_step_failed', order, error }),
    atOnce: maxAtOnce,
  })
}

/** Tries once. If this node or the database fails before the end, the event is tried again. */
export async function deliver(deps: SenderDeps, delivery: Delivery): Promise<void> {
  const { order } = delivery
  const result = resultOf(await posted(deps, delivery), () =>
    backOffMs(delivery.attempts, (deps.random ?? Math.random)()),
  )
  const isGivenUp = await deps.webhooks.end(delivery, result)
  deps.count(isGivenUp ? 'given_up' : result.type === 'delivered' ? 'delivered' : 'failed')
  if (isGivenUp) deps.report({ name: 'webhook_given_up', order, answer: result.answer })
}

async function posted({ vault, post, now }: SenderDeps, delivery: Delivery): Promise<PostResult> {
  const target = targetOf(vault, delivery)
  // The key that sealed it is lost, or this node does not have it yet.
  if (target === undefined) return { failure: 'webhook_unreadable' }
  return post(callFor(delivery, target, now()))
}

function targetOf(
  vault: SenderDeps['vault'],
  { order, target }: Delivery,
): WebhookTarget | undefined {
  try {
    return vault.open(target, { order, field: 'webhook' }) as WebhookTarget
  } catch {
    return undefined
  }
}

/** Any 2xx means delivered, and 410 never again (Standard Webhooks). A receiver may only ask for a longer wait. */
function resultOf(posted: PostResult, backOff: () => number): DeliveryResult {
  if ('failure' in posted) return { type: 'failed', answer: posted.failure, againInMs: backOff() }
  const { status, retryAfterMs = 0 } = posted
  const answer = `HTTP ${status}`
  if (status >= 200 && status < 300) return { type: 'delivered', answer }
  return status === 410
    ? { type: 'gone', answer }
    : {
        type: 'failed',
        answer,
        againInMs: Math.max(backOff(), Math.min(retryAfterMs, maxRetryAfterMs)),
      }
}
