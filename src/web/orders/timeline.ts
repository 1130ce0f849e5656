import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { type Html, html } from '../frame/html.ts'
import { timeOf, timeTag } from '../frame/parts.ts'
import type { Texts } from '../texts/texts.ts'

/** One station on the way of an order. */
export interface Station {
  readonly name: string
  readonly state: 'done' | 'now' | 'next' | 'bad'
  readonly at?: Date | undefined
  readonly until?: Date | undefined
}

/** The stations of an order so far, and those to come. */
export function stationsOf(view: OrderPageView, t: Texts): readonly Station[] {
  const { times } = view
  const paid: Station = { name: t('orders.steps.paid'), state: 'done', at: times.paid }
  const next = (name: string): Station => ({ name, state: 'next' })
  switch (view.stage) {
    case 'awaiting_payment':
      return [
        { name: t('orders.steps.awaiting'), state: 'now' },
        next(t('orders.steps.delivering')),
        next(t('orders.steps.delivered')),
      ]
    case 'checking_payment':
      return [
        { name: t('orders.steps.checking'), state: 'now' },
        next(t('orders.steps.delivering')),
        next(t('orders.steps.delivered')),
      ]
    case 'not_paid':
      return [{ name: t('orders.steps.notPaid'), state: 'bad' }]
    case 'delivering':
      return [
        paid,
        { name: t('orders.steps.delivering'), state: 'now', until: times.deliverBy },
        next(t('orders.steps.delivered')),
      ]
    case 'not_taken':
      return [notDelivered(view, t), { name: t('orders.steps.notTaken'), state: 'done' }]
    case 'delivered':
      return [paid, { name: t('orders.steps.delivered'), state: 'done', at: times.delivered }]
    default:
      return [paid, ...refundStations(view, t)]
  }
}

function notDelivered({ times }: OrderPageView, t: Texts): Station {
  return { name: t('orders.steps.notDelivered'), state: 'bad', at: times.failed }
}

function refundStations(view: OrderPageView, t: Texts): readonly Station[] {
  const { stage, times } = view
  const failed = notDelivered(view, t)
  if (stage === 'refunded') {
    return [failed, { name: t('orders.steps.sent'), state: 'done', at: times.refunded }]
  }
  const name =
    stage === 'refunding'
      ? t('orders.steps.sending')
      : stage === 'refund_by_hand'
        ? t('orders.steps.byHand')
        : t('orders.steps.stuck')
  return [failed, { name, state: 'now' }, { name: t('orders.steps.sent'), state: 'next' }]
}

export function timeline(stations: readonly Station[], t: Texts): Html {
  const note = ({ state, at, until }: Station) => {
    if (at) return timeOf(at, t)
    if (until) return t('orders.steps.latest', timeTag(until, t))
    if (state === 'now') return t('orders.steps.now')
    return state === 'next' ? t('orders.steps.next') : undefined
  }
  return html`<ol class="journey" aria-label="${t('orders.timeline')}">${stations.map(
    (station) => html`
<li class="${station.state}"${station.state === 'now' && html` aria-current="step"`}><b>${station.name}</b> <small>${note(station)}</small></li>`,
  )}
</ol>`
}
