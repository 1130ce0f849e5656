import type { EventStanding, WebhookStanding } from '../../orders/webhooks/ports.ts'

/** The webhook of an order, as its buyer sees it. */
export function webhookAnswer({ state, events }: WebhookStanding) {
  return { state, events: events.map(eventAnswer) }
}

function eventAnswer({ id, type, at, state, ...tried }: EventStanding) {
  return {
    id,
    type,
    timestamp: at.toISOString(),
    state,
    attempts: tried.attempts,
    last_attempt_at: tried.attemptedAt?.toISOString() ?? null,
    last_answer: tried.answer ?? null,
    next_attempt_at: tried.nextAttemptAt?.toISOString() ?? null,
  }
}
