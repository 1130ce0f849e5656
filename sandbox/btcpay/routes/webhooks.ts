import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import type { Deps } from '../deps.ts'
import { notFound, parsed, problem } from '../errors.ts'
import { newId } from '../ids.ts'
import type { Webhook } from '../models.ts'
import { deliveryView, webhookView } from '../views.ts'
import { numberOf, type Query } from './query.ts'

type Call = { Params: { id: string; delivery: string }; Querystring: Query }

const schema = z.object({
  url: z.url('Invalid Url'),
  secret: z.string().nullish(),
  enabled: z.boolean().default(true),
  automaticRedelivery: z.boolean().default(true),
  authorizedEvents: z
    .object({
      everything: z.boolean().default(true),
      specificEvents: z.array(z.string()).default([]),
    })
    .nullish(),
})

/** Routes of the store's webhooks and of their deliveries. */
export function webhookRoutes(app: FastifyInstance, deps: Deps): void {
  const { ledger } = deps
  const ofStore = '/api/v1/stores/:storeId/webhooks'
  app.get(ofStore, () => registered(deps).map(webhookView))
  app.post(ofStore, ({ body }) => {
    const webhook = { ...webhookFrom(body), id: newId() }
    ledger.commit(webhook)
    return { ...webhookView(webhook), secret: webhook.secret }
  })
  for (const one of ['/api/v1/webhooks/:id', `${ofStore}/:id`]) {
    app.get<Call>(one, ({ params }) => webhookView(webhookOf(deps, params.id)))
    app.put<Call>(one, ({ params, body }) => {
      const { id, secret } = webhookOf(deps, params.id)
      const given = parsed(schema, body).secret
      const webhook = { ...webhookFrom(body), id, secret: given || secret }
      ledger.commit(webhook)
      return webhookView(webhook)
    })
    app.delete<Call>(one, ({ params }, reply) => {
      ledger.commit({ ...webhookOf(deps, params.id), removed: true })
      return reply.send()
    })
    deliveryRoutes(app, deps, `${one}/deliveries`)
  }
}

function deliveryRoutes(app: FastifyInstance, deps: Deps, path: string): void {
  app.get<Call>(path, ({ params, query }) => {
    const { id } = webhookOf(deps, params.id)
    const all = deps.ledger.all('delivery').filter(({ webhookId }) => webhookId === id)
    return all.toReversed().slice(0, numberOf('count', query['count'])).map(deliveryView)
  })
  app.get<Call>(`${path}/:delivery`, ({ params }) => deliveryView(deliveryOf(deps, params)))
  app.get<Call>(`${path}/:delivery/request`, ({ params }) =>
    JSON.parse(deliveryOf(deps, params).body),
  )
  app.post<Call>(`${path}/:delivery/redeliver`, ({ params }, reply) => {
    const id = deps.webhooks.redeliver(deliveryOf(deps, params))
    return reply.type('application/json').send(JSON.stringify(id))
  })
}

function webhookFrom(body: unknown): Omit<Webhook, 'id'> {
  const given = parsed(schema, body)
  return {
    type: 'webhook',
    url: given.url,
    secret: given.secret || randomBytes(21).toString('base64url'),
    enabled: given.enabled,
    automaticRedelivery: given.automaticRedelivery,
    everything: given.authorizedEvents?.everything ?? true,
    specificEvents: given.authorizedEvents?.specificEvents ?? [],
    removed: false,
  }
}

function registered({ ledger }: Deps): readonly Webhook[] {
  return ledger.all('webhook').filter(({ removed }) => !removed)
}

function webhookOf(deps: Deps, id: string): Webhook {
  const webhook = registered(deps).find((one) => one.id === id)
  if (!webhook) throw notFound('webhook')
  return webhook
}

function deliveryOf(deps: Deps, { id, delivery }: Call['Params']) {
  const found = deps.ledger.find('delivery', delivery)
  if (found?.webhookId === webhookOf(deps, id).id) return found
  throw problem(404, 'webhookdelivery-not-found', 'The webhook delivery was not found')
}
