import type { OrderId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import { redeliverEveryMs, type WebhookStanding } from '../../orders/webhooks/ports.ts'
import { webhookAnswer } from '../views/webhook.ts'
import type { BuyingDeps, FaultLog } from './deps.ts'
import { orNotNow } from './or-not-now.ts'
import { lookAtOrder } from './orders.ts'
import type { Credentials } from './viewer.ts'

type WebhookDeps = Pick<BuyingDeps, 'orders' | 'signIn' | 'webhooks'>

/**
 * What became of the events of an order, for whoever shows that it is theirs.
 *
 * @throws Refusal `no_webhook`, besides those of `lookAtOrder`
 */
export async function webhookOf(
  deps: WebhookDeps,
  orderId: string,
  shown: () => Credentials,
  log: FaultLog,
) {
  const id = await ownOrder(deps, orderId, shown, log)
  return webhookAnswer(await standingOf(deps, id, log))
}

/**
 * Has all events of an order sent again, for whoever shows that it is theirs.
 *
 * @throws Refusal `no_webhook`, `rate_limited`, besides those of `lookAtOrder`
 */
export async function redelivered(
  deps: WebhookDeps,
  orderId: string,
  shown: () => Credentials,
  log: FaultLog,
) {
  const id = await ownOrder(deps, orderId, shown, log)
  const done = await orNotNow(log, () => deps.webhooks.redeliver(id))
  if (done === 'none') throw noWebhook()
  if (done === 'too_soon') {
    const retryAfterSeconds = redeliverEveryMs / 1_000
    const message = `The events of an order are sent again at most every ${retryAfterSeconds} seconds.`
    throw new Refusal('rate_limited', message, { retryAfterSeconds })
  }
  return webhookAnswer(await standingOf(deps, id, log))
}

async function ownOrder(
  deps: WebhookDeps,
  orderId: string,
  shown: () => Credentials,
  log: FaultLog,
): Promise<OrderId> {
  const { order, reveal } = await lookAtOrder(deps, { orderId }, shown, log)
  if (!reveal) throw noWebhook()
  return order.id
}

async function standingOf(
  { webhooks }: WebhookDeps,
  order: OrderId,
  log: FaultLog,
): Promise<WebhookStanding> {
  const standing = await orNotNow(log, () => webhooks.find(order))
  if (standing === undefined) throw noWebhook()
  return standing
}

/** The same for an order without a webhook and for one that is not the asker's. */
function noWebhook(): Refusal {
  const message =
    'This order has no webhook that takes events, or nothing shows that the order is yours: send its accessToken or a sign-in of the paying wallet.'
  return new Refusal('no_webhook', message)
}
