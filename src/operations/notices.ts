import type { Mailer } from '../orders/ports.ts'
import type { PostWebhook } from '../orders/webhooks/ports.ts'
import { signedCall, type WebhookTarget } from '../orders/webhooks/sender.ts'
import { conditions } from './conditions.ts'
import type { Teller } from './incidents.ts'
import type { Incident } from './ports.ts'

interface Store {
  readonly name: string
  readonly url: string
}

/** One mail when an incident begins, and one when it is over; a single one if both are told at once. */
export function mailTeller(mailer: Mailer, to: string, store: Store): Teller {
  return (incident) => {
    const { condition, text, openedAt, recoveredAt } = incident
    const { alert, mend } = aboutOf(condition)
    const lines = [
      text,
      '',
      `Since:  ${openedAt.toISOString()}`,
      ...(recoveredAt ? [`Over:   ${recoveredAt.toISOString()}`] : ['', `To do: ${mend}`]),
      '',
      `${alert} of ${store.url}: docs/operators/alerts.md#${alert.toLowerCase()}`,
    ]
    const subject = `${store.name}: ${recoveredAt ? 'over: ' : ''}${text}`.slice(0, 150)
    return mailer.send({ to, subject, text: lines.join('\n') })
  }
}

/** A signed event as Standard Webhooks has it, like those that buyers get. */
export function webhookTeller(
  post: PostWebhook,
  target: WebhookTarget,
  { store, now }: { readonly store: Store; readonly now: () => Date },
): Teller {
  return async (incident) => {
    const end = incident.recoveredAt ? 'recovered' : 'opened'
    const event = {
      id: `incident_${incident.id}_${end}`,
      type: `incident.${end}`,
      at: incident.recoveredAt ?? incident.openedAt,
      data: dataOf(incident, store),
    }
    const answer = await post(signedCall(event, target, now()))
    if ('failure' in answer) throw new Error(answer.failure)
    if (answer.status < 200 || answer.status >= 300) throw new Error(`HTTP ${answer.status}`)
  }
}

function dataOf({ condition, subject, text, openedAt, recoveredAt }: Incident, store: Store) {
  const { alert, severity, mend } = aboutOf(condition)
  return {
    ...{ condition, subject, text, alert, severity, mend, store: store.url },
    opened_at: openedAt.toISOString(),
    recovered_at: recoveredAt?.toISOString() ?? null,
  }
}

/** An incident of a version that knew another condition ends like the others. */
function aboutOf(condition: string) {
  return conditions[condition] ?? { alert: condition, severity: 'warning', mend: '' }
}
