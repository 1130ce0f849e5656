import type { FastifyInstance } from 'fastify'
import { claim, claimOfStore } from '../claims.ts'
import type { Deps } from '../deps.ts'
import type { Payout } from '../models.ts'
import { approveById, cancelPayout, markPayout, payoutOf } from '../payouts.ts'
import { archivePullPayment, createPullPayment, pullPaymentOf } from '../pull-payments.ts'
import { payoutView, pullPaymentView } from '../views.ts'
import { flag, type Query } from './query.ts'

type Call = { Params: { id: string }; Querystring: Query }

/** Routes of pull payments, from which anyone with the link may claim. */
export function pullPaymentRoutes(app: FastifyInstance, deps: Deps): void {
  const { ledger, place } = deps
  const ofStore = '/api/v1/stores/:storeId/pull-payments'
  app.post(ofStore, ({ body }) => pullPaymentView(place, createPullPayment(deps, body, Date.now())))
  app.get<Call>(ofStore, ({ query }) =>
    ledger
      .all('pull-payment')
      .filter(({ archived }) => !archived || flag(query['includeArchived']))
      .toReversed()
      .map((pull) => pullPaymentView(place, pull)),
  )
  const one = '/api/v1/pull-payments/:id'
  app.get<Call>(one, ({ params }) => pullPaymentView(place, pullPaymentOf(deps, params.id)))
  for (const path of [one, `${ofStore}/:id`]) {
    app.delete<Call>(path, ({ params }, reply) => {
      archivePullPayment(deps, params.id)
      return reply.send()
    })
  }
  app.post<Call>(`${one}/payouts`, ({ params, body }) =>
    payoutView(claim(deps, params.id, body, Date.now())),
  )
  app.get<Call>(`${one}/payouts`, ({ params, query }) => {
    const { id } = pullPaymentOf(deps, params.id)
    return listed(ledger.all('payout'), query)
      .filter(({ pullPaymentId }) => pullPaymentId === id)
      .map(payoutView)
  })
}

/** Routes of payouts for the store. */
export function payoutRoutes(app: FastifyInstance, deps: Deps): void {
  const ofStore = '/api/v1/stores/:storeId/payouts'
  app.post(ofStore, ({ body }) => payoutView(claimOfStore(deps, body, Date.now())))
  app.get<Call>(ofStore, ({ query }) => listed(deps.ledger.all('payout'), query).map(payoutView))
  for (const one of ['/api/v1/payouts/:id', `${ofStore}/:id`]) {
    app.get<Call>(one, ({ params }) => payoutView(payoutOf(deps, params.id)))
    app.post<Call>(one, ({ params, body }) =>
      payoutView(approveById(deps, params.id, body, Date.now())),
    )
    app.delete<Call>(one, ({ params }, reply) => {
      cancelPayout(deps, params.id)
      return reply.send()
    })
    app.post<Call>(`${one}/mark`, ({ params, body }, reply) => {
      markPayout(deps, params.id, body, Date.now())
      return reply.send()
    })
    app.post<Call>(`${one}/mark-paid`, ({ params }, reply) => {
      markPayout(deps, params.id, { state: 'Completed' }, Date.now())
      return reply.send()
    })
  }
}

function listed(all: readonly Payout[], query: Query): readonly Payout[] {
  const isCancelledToo = flag(query['includeCancelled'])
  return all.filter(({ state }) => isCancelledToo || state !== 'Cancelled').toReversed()
}
