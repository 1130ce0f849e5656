import { createSmtpMailer } from '../adapters/mail/smtp.ts'
import { postAnywhere } from '../adapters/webhooks/post.ts'
import { repeatWork } from '../lib/scheduling.ts'
import { type Teller, type WatchDeps, watchIncidents } from '../operations/incidents.ts'
import { mailTeller, webhookTeller } from '../operations/notices.ts'
import type { Channel } from '../operations/ports.ts'
import type { Ground } from './store-server.ts'

const usualEveryMs = 15_000

interface Watched extends Pick<WatchDeps, 'readState' | 'book'> {
  readonly membership: Pick<WatchDeps, 'isFirst'>
}

/** Tells the operator what needs a person, if the store knows where. */
export async function watchConditions(ground: Ground, watched: Watched): Promise<void> {
  const { failed, now, lookEveryMs: everyMs = usualEveryMs } = ground
  const tellers = tellersOf(ground)
  if (tellers.size === 0) return
  const { isFirst } = watched.membership
  const look = watchIncidents({ ...watched, tellers, isFirst, now, failed })
  await repeatWork('watching for incidents', look, { ...ground, everyMs })
}

function tellersOf({ config, now }: Pick<Ground, 'config' | 'now'>): ReadonlyMap<Channel, Teller> {
  const { alerts, mail, site: store } = config
  const tellers = new Map<Channel, Teller>()
  if (mail && alerts.mail)
    tellers.set('mail', mailTeller(createSmtpMailer(mail), alerts.mail, store))
  if (alerts.webhook) {
    tellers.set('webhook', webhookTeller(postAnywhere, alerts.webhook, { store, now }))
  }
  return tellers
}
