import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { type Html, html } from '../frame/html.ts'
import { timeOf } from '../frame/time-of.ts'
import type { Texts } from '../texts/en.ts'

/** One station on the way of an order. */
export interface Station {
  readonly name: string
  readonly state: 'done' | 'now' | 'next' | 'bad'
  readonly at?: Date | undefined
  readonly until?: Date | undefined
}

/** The way of an order so far, and what is to come on it. */
export function stationsOf(view: OrderPageView, texts: Texts): readonly Station[] {
  const { steps } = texts.orders
  const { times } = view
  const paid: Station = { name: steps.paid, state: 'done', at: times.paid }
  const next = (name: string): Station => ({ name, state: 'next' })
  switch (view.stage) {
    case 'awaiting_payment':
      return [{ name: steps.awaiting, state: 'now' }, next(steps.delivering), next(steps.delivered)]
    case 'checking_payment':
      return [{ name: steps.checking, state: 'now' }, next(steps.delivering), next(steps.delivered)]
    case 'not_paid':
      return [{ name: steps.notPaid, state: 'bad' }]
    case 'delivering':
      return [
        paid,
        { name: steps.delivering, state: 'now', until: times.deliverBy },
        next(steps.delivered),
      ]
    case 'not_taken':
      return [notDelivered(view, texts), { name: steps.notTaken, state: 'done' }]
    case 'delivered':
      return [paid, { name: steps.delivered, state: 'done', at: times.delivered }]
    default:
      return [paid, ...refundStations(view, texts)]
  }
}

function notDelivered({ times }: OrderPageView, { orders }: Texts): Station {
  return { name: orders.steps.notDelivered, state: 'bad', at: times.failed }
}

function refundStations(view: OrderPageView, texts: Texts): readonly Station[] {
  const { stage, times } = view
  const { steps } = texts.orders
  const failed = notDelivered(view, texts)
  if (stage === 'refunded') {
    return [failed, { name: steps.sent, state: 'done', at: times.refunded }]
  }
  const name =
    stage === 'refunding' ? steps.sending : stage === 'refund_by_hand' ? steps.byHand : steps.stuck
  return [failed, { name, state: 'now' }, { name: steps.sent, state: 'next' }]
}

export function timeline(stations: readonly Station[], texts: Texts): Html {
  const { orders } = texts
  const note = ({ state, at, until }: Station) => {
    if (at) return timeOf(at, texts)
    if (until) return html`${orders.steps.latest} ${timeOf(until, texts)}`
    if (state === 'now') return orders.steps.now
    return state === 'next' ? orders.steps.next : undefined
  }
  return html`<ol class="journey" aria-label="${orders.timeline}">${stations.map(
    (station) => html`
<li class="${station.state}"${station.state === 'now' && html` aria-current="step"`}><b>${station.name}</b> <small>${note(station)}</small></li>`,
  )}
</ol>`
}
