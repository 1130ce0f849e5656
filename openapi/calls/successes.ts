import { kinds } from '../../src/catalog/good.ts'
import type { Kind } from '../../src/catalog/offer.ts'
import {
  type Ask,
  bodyOf,
  type Call,
  nameOf,
  newKey,
  type Outcome,
  queryOf,
  type Shop,
  type SignedRequest,
} from './call.ts'

function success(
  operation: string,
  name: string,
  summary: string,
  ask: Call['ask'] = () => ({}),
  status = 200,
): Call {
  return { operation, name, summary, status, ask }
}

/** A search, with its query. */
function found(operation: string, name: string, summary: string, query: string): Call {
  return success(operation, name, summary, () => ({ query }))
}

/** Searching, browsing, and the store's documents about itself. */
const reading: readonly Call[] = [
  success('serviceIndex', 'index', 'Where the searches are'),
  success('capabilities', 'values', 'Everything that finds something'),
  found(
    'search',
    'found',
    'Plans that cover two countries',
    'query=1+GB+for+the+United+States+and+Canada&limit=2',
  ),
  found('search', 'nothing_found', 'What was looked for and is not sold', 'query=Prada'),
  found('searchVouchers', 'found', 'Vouchers of the United States', 'country=US&limit=2'),
  found('searchVouchers', 'nothing_found', 'What would find something', 'search=zzzzzz'),
  found('searchTopups', 'found', 'Airtime, with facets', 'subType=voice&limit=1'),
  found('searchEsims', 'found', 'Plans that cover Germany', 'country=DE&limit=2'),
  found('browseVouchers', 'found', 'Vouchers of at most 25 USD', 'maxValue=25&limit=2'),
  found('browseVouchers', 'nothing_found', 'What would find something', 'country=AQ'),
  success('voucherBrands', 'brands', 'All brands'),
  success('voucherCountries', 'countries', 'All countries'),
  success('voucherFilters', 'filters', 'All values'),
  found('browseTopups', 'found', 'Topups of a region', 'region=south-america&limit=2'),
  success('topupCountries', 'countries', 'All countries'),
  success('topupRegions', 'regions', 'All regions'),
  found('browseEsims', 'found', 'Regional plans', 'regional=true&limit=1'),
  ...kinds.map((kind) =>
    success(`${kind}Offer`, 'offer', 'A test offer of the sandbox', () => ({
      params: { id: `TEST-${kind.toUpperCase()}-OK` },
    })),
  ),
  success('manifest', 'manifest', 'The whole manifest'),
  success('catalogManifest', 'manifest', 'The whole manifest'),
  success('jwks', 'keys', 'The keys of the store'),
  success('did', 'keys', 'The same keys'),
  success('live', 'live', 'The process answers'),
  success('ready', 'ready', 'Every part is well'),
  {
    ...success('ready', 'not_ready', 'The chain cannot be reached', () => ({}), 503),
    at: 'away',
  },
]

/** Quotes and purchases that succeed, or are answered with a price. */
const buying: readonly Call[] = kinds.flatMap((kind) => {
  const operation = `purchase${nameOf(kind)}`
  const quoted = () => ({ query: queryOf(bodyOf(kind)) })
  return [
    success(`quote${nameOf(kind)}`, 'price', 'The exact price', quoted),
    success(operation, 'delivered', 'Paid, with the goods', (shop) => paid(shop, kind, 'OK')),
    success(operation, 'replayed', 'The same request again: the same order, charged once', (shop) =>
      shop.bought(kind, 'OK'),
    ),
    success(
      operation,
      'unproven',
      'The same payment without proof of whose it is: where its order stands',
      async (shop) => {
        const { 'idempotency-key': _, ...payment } = (await shop.bought(kind, 'OK')).headers
        return { body: bodyOf(kind), headers: payment }
      },
    ),
    success(
      operation,
      'under_way',
      'The goods are on their way',
      async (shop) => {
        const ask = await paid(shop, kind, 'HANG')
        return { ...ask, headers: { ...ask.headers, prefer: 'respond-async' } }
      },
      202,
    ),
    success(
      operation,
      'failed',
      'The supplier refused; the money goes back by itself',
      (shop) => paid(shop, kind, 'FAIL'),
      202,
    ),
    success(
      operation,
      'payment_required',
      'What this purchase costs',
      () => ({ body: bodyOf(kind) }),
      402,
    ),
  ]
})

async function paid(shop: Shop, kind: Kind, outcome: Outcome): Promise<Ask> {
  const body = bodyOf(kind, outcome)
  const signature = await shop.payment(kind, body)
  return { body, headers: { 'payment-signature': signature, ...newKey() } }
}

/** Asks about an order in its path; with its token, if it is named. */
const ofOrder =
  (outcome: Outcome, more: Ask = {}): Call['ask'] =>
  async (shop) => {
    const { orderId } = await shop.bought('voucher', outcome)
    return { params: { orderId }, ...more }
  }
const withToken =
  (kind: Kind): Call['ask'] =>
  async (shop) => {
    const { orderId, accessToken } = await shop.bought(kind, 'OK')
    return { params: { orderId }, headers: bearer(accessToken) }
  }
const signedIn =
  (kind: Kind, path: string, query: string): Call['ask'] =>
  async (shop) => {
    await shop.bought(kind, 'OK')
    return { query, headers: { 'sign-in-with-x': await shop.signIn(path) } }
  }
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const claim = () => ({ headers: newKey(), body: { reason: 'nothing arrived' } })
const challenge = (operation: string, ask?: Call['ask']) =>
  success(operation, 'sign_in_required', 'The challenge to sign', ask, 402)

/** Calls about orders, refunds and webhooks that succeed, or are answered with a sign-in challenge. */
const orders: readonly Call[] = [
  success('getOrder', 'locked', 'For whoever knows the id: without the goods', ofOrder('OK')),
  success(
    'getOrder',
    'with_goods',
    'With the access token of the first answer',
    withToken('voucher'),
  ),
  success('getOrder', 'refunded', 'An order that failed and was paid back', ofOrder('FAIL')),
  success('getOrder', 'expired', 'An order that expired; its refund is under way', ofOrder('HANG')),
  success('getReceipt', 'locked', 'For whoever knows the id: the receipt alone', ofOrder('OK')),
  success(
    'getReceipt',
    'with_goods',
    'With the access token: the goods beside it',
    withToken('voucher'),
  ),
  success('getReceipt', 'refunded', 'Of an order that was paid back', ofOrder('FAIL')),
  success(
    'findOrders',
    'page',
    'The orders of a wallet',
    signedIn('voucher', '/api/catalog/orders', 'limit=2'),
  ),
  success('findOrders', 'one_order', 'The order of a transaction, for its buyer', async (shop) => {
    const { transactionHash, accessToken } = await shop.bought('voucher', 'OK')
    return { query: `transactionHash=${transactionHash}`, headers: bearer(accessToken) }
  }),
  success('findOrders', 'standing', 'The order of a transaction, for anybody', async (shop) => {
    const { transactionHash } = await shop.bought('voucher', 'OK')
    return { query: `transactionHash=${transactionHash}` }
  }),
  challenge('findOrders'),
  success(
    'listEsimOrders',
    'page',
    'The eSIM orders of a wallet',
    signedIn('esim', '/api/catalog/esims/orders/info', 'limit=1'),
  ),
  challenge('listEsimOrders'),
  success('claimRefund', 'refunded', 'It was paid back already', (shop) =>
    ofOrder('FAIL', claim())(shop),
  ),
  success(
    'claimRefund',
    'pending',
    'It is under way',
    (shop) => ofOrder('HANG', claim())(shop),
    202,
  ),
  success('getRefund', 'refunded', 'It was paid back', ofOrder('FAIL')),
  success('getRefund', 'pending', 'It is under way', ofOrder('HANG'), 202),
  success('getWebhook', 'waiting', 'Its receiver is away', withToken('esim')),
  success('redeliverWebhook', 'queued', 'All events are sent again', withToken('esim'), 202),
]

const limitsPath = '/api/catalog/limits'
const someLimits = { perOrderUsdc: '5', perDayUsdc: '20', kinds: ['topup', 'esim'] }

/** The requests about spending limits, which a sign-in covers as a whole. */
export const limitRequests: Readonly<Record<string, SignedRequest>> = {
  getLimits: { method: 'GET' },
  setLimits: { method: 'PUT', body: someLimits },
  liftLimits: { method: 'DELETE' },
}

const limits: readonly Call[] = [
  ...limitCalls('getLimits', 'set', 'A wallet with spending limits'),
  ...limitCalls('setLimits', 'set', 'Limits that hold at once'),
  ...limitCalls('liftLimits', 'lifted', 'What is looser waits'),
]

function limitCalls(operation: string, name: string, summary: string): Call[] {
  const request = limitRequests[operation] as SignedRequest
  const { body } = request
  return [
    success(operation, name, summary, (shop) => signedLimits(shop, request)),
    challenge(operation, () => (body === undefined ? {} : { body })),
  ]
}

export async function signedLimits(shop: Shop, request: SignedRequest, at?: 'away'): Promise<Ask> {
  const { body } = request
  const headers = { 'sign-in-with-x': await shop.signIn(limitsPath, at, request) }
  return { headers, ...(body === undefined ? {} : { body }) }
}

/** Calls that succeed, or are answered with a price or a challenge. */
export const successes: readonly Call[] = [...reading, ...buying, ...orders, ...limits]
