import { type Draft, kinds, type Material } from './draft.ts'
import type { Random } from './random.ts'

/** A well-formed call of a tool over MCP, with or without a payment or a sign-in. */
export function toolCall(random: Random, material: Material): Draft {
  const [name, args, meta] = random.pick<readonly [string, object, object]>([
    ['search', { kind: random.pick(kinds), limit: 3, country: 'US' }, {}],
    ['get_offer', { offerId: 'TEST-ESIM-OK' }, {}],
    ['quote', { offerId: 'TEST-TOPUP-OK', msisdn: '+12025550123' }, {}],
    ['buy', { offerId: 'TEST-ESIM-OK' }, { 'x402/payment': material.unpaid.esim }],
    ['buy', { offerId: 'TEST-ESIM-OK', include_goods: true }, {}],
    // The payment is public on the chain: it must never open the goods that it paid for.
    ['buy', { ...(material.paid.body as object), include_goods: true }, paymentOf(material)],
    ['order_status', { orderId: material.paid.orderId, include_goods: true }, {}],
    ['order_status', { limit: 5 }, { 'sign-in-with-x': material.signIn }],
    ['refund', { orderId: material.paid.orderId, idempotency_key: 'c'.repeat(20) }, {}],
  ])
  const method = random.pick(['tools/call', 'tools/call', 'tools/call', 'tools/list', 'initialize'])
  return {
    name: `tool ${name}`,
    method: 'POST',
    path: '/mcp',
    query: [],
    headers: [['accept', 'application/json, text/event-stream']],
    body: { jsonrpc: '2.0', id: 1, method, params: { name, arguments: args, _meta: meta } },
  }
}

function paymentOf({ paid }: Material): object {
  return { 'x402/payment': paid.payment }
}
