import type { Buyer } from '../buyer.ts'
import { type Answer, get, type Kind, post, purchasePath } from '../requests.ts'
import { type Arguments, type McpClient, newKey, openClient, type Result } from './client.ts'

/** What a transport answered, in words that all of them share. */
export interface Outcome {
  readonly type: 'answer' | 'demand' | 'problem'
  readonly body: unknown
}

interface BuyOptions {
  readonly key?: string
  readonly payment?: string
}

/** A way to ask the store; stories that are told through one hold for all. */
export interface Transport {
  readonly name: string
  search(kind: Kind, filters: Record<string, string | number>): Promise<Outcome>
  offer(kind: Kind, offerId: string): Promise<Outcome>
  quote(kind: Kind, fields: Arguments): Promise<Outcome>
  buy(kind: Kind, fields: Arguments, options?: BuyOptions): Promise<Outcome>
  order(orderId: string, key?: string): Promise<Outcome>
  findOrder(sought: Record<string, string>): Promise<Outcome>
  refund(orderId: string, claim?: { key: string; fields: Arguments }): Promise<Outcome>
}

/** Each transport buys what the other has bought. */
const insisting = { confirmAnother: true }

export function httpTransport({ url }: { readonly url: string }): Transport {
  const orders = '/api/catalog/orders'
  const headersOf = (key?: string) => (key === undefined ? {} : { 'idempotency-key': key })
  return {
    name: 'HTTP',
    search: async (kind, filters) =>
      namingOffers(answered(await get(url, `/ai/search?${queryOf({ kind, ...filters })}`))),
    offer: async (kind, offerId) =>
      less(answered(await get(url, `/api/catalog/${kind}s/offers/${offerId}`)), 'purchase'),
    quote: async (kind, fields) =>
      less(answered(await get(url, `${purchasePath(kind)}?${queryOf(fields)}`)), 'accepts'),
    buy: async (kind, fields, { key, payment } = {}) => {
      const paid = payment === undefined ? {} : { 'payment-signature': payment }
      const headers = { ...headersOf(key), ...paid }
      return answered(await post(url, purchasePath(kind), { ...fields, ...insisting }, headers))
    },
    order: async (orderId, key) => answered(await get(url, `${orders}/${orderId}`, headersOf(key))),
    findOrder: async (sought) => answered(await get(url, `${orders}?${queryOf(sought)}`)),
    refund: async (orderId, claim) => {
      const path = `${orders}/${orderId}/refund`
      return answered(
        claim === undefined
          ? await get(url, path)
          : await post(url, path, claim.fields, headersOf(claim.key)),
      )
    },
  }
}

export async function mcpTransport(store: {
  readonly url: string
}): Promise<Transport & Pick<McpClient, 'close'>> {
  const { call, client, close } = await openClient(store, '2026-07-28')
  await client.listTools()
  const keyed = (key?: string) => (key === undefined ? {} : { idempotency_key: key })
  const goods = { include_goods: true }
  return {
    name: 'MCP',
    close,
    search: async (kind, filters) => namingOffers(said(await call('search', { kind, ...filters }))),
    offer: async (_, offerId) => said(await call('get_offer', { offerId })),
    quote: async (_, fields) => said(await call('quote', fields)),
    buy: async (_, fields, { key, payment } = {}) => {
      const paid = payment === undefined ? {} : { 'x402/payment': decoded(payment) }
      const args = { ...fields, ...insisting, ...keyed(key ?? newKey()), ...goods }
      return said(await call('buy', args, paid))
    },
    order: async (orderId, key) =>
      said(await call('order_status', { orderId, ...keyed(key), ...goods })),
    findOrder: async (sought) => said(await call('order_status', { ...sought, ...goods })),
    refund: async (orderId, claim) =>
      said(await call('refund', { orderId, ...keyed(claim?.key), ...claim?.fields })),
  }
}

/** What a search finds, by its ids: each transport shows its own readers what they choose by. */
function namingOffers({ type, body }: Outcome): Outcome {
  if (type !== 'answer') return { type, body }
  const { items, ...page } = body as Record<string, unknown>
  const ids = (items as readonly { offerId: string }[]).map(({ offerId }) => offerId)
  return { type, body: { ...page, items: ids } }
}

/** What models get from their tools anyway. */
function less({ type, body }: Outcome, field: string): Outcome {
  const { [field]: _, ...rest } = body as Record<string, unknown>
  return { type, body: rest }
}

/** Signs what a demand asks for. */
export async function signed(buyer: Buyer, demand: Outcome): Promise<string> {
  const { accepts } = demand.body as { accepts: [Parameters<Buyer['sign']>[0]] }
  return (await buyer.sign(accepts[0])).header
}

function answered({ status, body }: Answer): Outcome {
  if (status === 402) return { type: 'demand', body }
  return { type: status < 300 ? 'answer' : 'problem', body }
}

function said({ isError, data }: Result): Outcome {
  if (!isError) return { type: 'answer', body: data }
  return { type: 'accepts' in data ? 'demand' : 'problem', body: data }
}

function decoded(header: string): unknown {
  try {
    return JSON.parse(Buffer.from(header, 'base64').toString())
  } catch {
    return header
  }
}

function queryOf(fields: Arguments): string {
  const texts = Object.entries(fields).map(([name, value]) => [name, String(value)] as const)
  return new URLSearchParams(Object.fromEntries(texts)).toString()
}
