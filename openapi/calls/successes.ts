import { titleOf } from '../../src/api/operation.ts'
import { type Kind, kinds } from '../../src/catalog/offer.ts'
import {
  type Ask,
  bodyOf,
  type Call,
  newKey,
  type Outcome,
  type Place,
  queryOf,
  type Shop,
  type SignedRequest,
} from './call.ts'

/** Calls of an operation by their names. Without `ask` nothing is sent; without a status it is 200. */
type Calls = Readonly<
  Record<string, readonly [summary: string, ask?: Call['ask'], status?: number, at?: Place]>
>
type ById = Readonly<Record<string, Calls>>

const query = (query: string) => () => ({ query })
const nothing = () => ({})

const reading: ById = {
  serviceIndex: { index: ['Where the searches are'] },
  capabilities: { values: ['Everything that finds something'] },
  search: {
    found: [
      'Plans that cover two countries',
      query('query=1+GB+for+the+United+States+and+Canada&limit=2'),
    ],
    nothing_found: ['What was looked for and is not sold', query('query=Prada')],
  },
  searchVouchers: {
    found: ['Vouchers of the United States', query('country=US&limit=2')],
    nothing_found: ['What would find something', query('search=zzzzzz')],
  },
  searchTopups: { found: ['Airtime, with facets', query('subType=voice&limit=1')] },
  searchEsims: { found: ['Plans that cover Germany', query('country=DE&limit=2')] },
  browseVouchers: {
    found: ['Vouchers of at most 25 USD', query('maxValue=25&limit=2')],
    nothing_found: ['What would find something', query('country=AQ')],
  },
  voucherBrands: { brands: ['All brands'] },
  voucherCountries: { countries: ['All countries'] },
  voucherFilters: { filters: ['All values'] },
  browseTopups: { found: ['Topups of a region', query('region=south-america&limit=2')] },
  topupCountries: { countries: ['All countries'] },
  topupRegions: { regions: ['All regions'] },
  browseEsims: { found: ['Regional plans', query('regional=true&limit=1')] },
  manifest: { manifest: ['The whole manifest'] },
  catalogManifest: { manifest: ['The whole manifest'] },
  jwks: { keys: ['The keys of the store'] },
  did: { keys: ['The same keys'] },
  live: { live: ['The process answers'] },
  ready: {
    ready: ['Every part is well'],
    not_ready: ['The chain cannot be reached', nothing, 503, 'away'],
  },
}

const buying = (kind: Kind): ById => ({
  [`${kind}Offer`]: {
    offer: [
      'A test offer of the sandbox',
      () => ({ params: { id: `TEST-${kind.toUpperCase()}-OK` } }),
    ],
  },
  [`quote${titleOf(kind)}`]: { price: ['The exact price', query(queryOf(bodyOf(kind)))] },
  [`purchase${titleOf(kind)}`]: {
    delivered: ['Paid, with the goods', (shop) => paid(shop, kind, 'OK')],
    replayed: [
      'The same request again: the same order, charged once',
      (shop) => shop.bought(kind, 'OK'),
    ],
    unproven: [
      'The same payment without proof of whose it is: where its order stands',
      async (shop) => {
        const { 'idempotency-key': _, ...payment } = (await shop.bought(kind, 'OK')).headers
        return { body: bodyOf(kind), headers: payment }
      },
    ],
    under_way: [
      'The goods are on their way',
      async (shop) => {
        const ask = await paid(shop, kind, 'HANG')
        return { ...ask, headers: { ...ask.headers, prefer: 'respond-async' } }
      },
      202,
    ],
    failed: [
      'The supplier refused; the money goes back by itself',
      (shop) => paid(shop, kind, 'FAIL'),
      202,
    ],
    payment_required: ['What this purchase costs', () => ({ body: bodyOf(kind) }), 402],
  },
})

/** Each topup has a phone of its own: the store asks about one that was topped up a moment ago. */
const lines = { OK: '+12025550124', HANG: '+12025550125', FAIL: '+12025550126' } as const

async function paid(shop: Shop, kind: Kind, outcome: keyof typeof lines): Promise<Ask> {
  const own = kind === 'topup' ? { msisdn: lines[outcome] } : {}
  const body = { ...bodyOf(kind, outcome), ...own }
  const signature = await shop.payment(kind, body)
  return { body, headers: { 'payment-signature': signature, ...newKey() } }
}

const ofOrder =
  (outcome: Outcome, more: () => Ask = nothing): Call['ask'] =>
  async (shop) => {
    const { orderId } = await shop.bought('voucher', outcome)
    return { params: { orderId }, ...more() }
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
const challenge = (ask?: Call['ask']) => ['The challenge to sign', ask ?? nothing, 402] as const

const orders: ById = {
  getOrder: {
    locked: ['For whoever knows the id: without the goods', ofOrder('OK')],
    with_goods: ['With the access token of the first answer', withToken('voucher')],
    refunded: ['An order that failed and was paid back', ofOrder('FAIL')],
    expired: ['An order that expired; its refund is under way', ofOrder('HANG')],
  },
  getReceipt: {
    locked: ['For whoever knows the id: the receipt alone', ofOrder('OK')],
    with_goods: ['With the access token: the goods beside it', withToken('voucher')],
    refunded: ['Of an order that was paid back', ofOrder('FAIL')],
  },
  findOrders: {
    page: ['The orders of a wallet', signedIn('voucher', '/api/catalog/orders', 'limit=2')],
    by_key: [
      'The order of an idempotency key',
      async (shop) => {
        const { 'idempotency-key': key = '' } = (await shop.bought('voucher', 'OK')).headers
        return { headers: { 'idempotency-key': key } }
      },
    ],
    one_order: [
      'The order of a transaction, for its buyer',
      async (shop) => {
        const { transactionHash, accessToken } = await shop.bought('voucher', 'OK')
        return { query: `transactionHash=${transactionHash}`, headers: bearer(accessToken) }
      },
    ],
    standing: [
      'The order of a transaction, for anybody',
      async (shop) => {
        const { transactionHash } = await shop.bought('voucher', 'OK')
        return { query: `transactionHash=${transactionHash}` }
      },
    ],
    sign_in_required: challenge(),
  },
  listEsimOrders: {
    page: [
      'The eSIM orders of a wallet',
      signedIn('esim', '/api/catalog/esims/orders/info', 'limit=1'),
    ],
    sign_in_required: challenge(),
  },
  claimRefund: {
    refunded: ['It was paid back already', ofOrder('FAIL', claim)],
    pending: ['It is under way', ofOrder('HANG', claim), 202],
  },
  getRefund: {
    refunded: ['It was paid back', ofOrder('FAIL')],
    pending: ['It is under way', ofOrder('HANG'), 202],
  },
  getWebhook: { waiting: ['Its receiver is away', withToken('esim')] },
  redeliverWebhook: { queued: ['All events are sent again', withToken('esim'), 202] },
}

const limitsPath = '/api/catalog/limits'

export const limitRequests: Readonly<Record<string, SignedRequest>> = {
  getLimits: { method: 'GET' },
  setLimits: {
    method: 'PUT',
    body: { perOrderUsdc: '5', perDayUsdc: '20', kinds: ['topup', 'esim'] },
  },
  liftLimits: { method: 'DELETE' },
}

const limits: ById = {
  getLimits: limitCalls('getLimits', 'set', 'A wallet with spending limits'),
  setLimits: limitCalls('setLimits', 'set', 'Limits that hold at once'),
  liftLimits: limitCalls('liftLimits', 'lifted', 'What is looser waits'),
}

function limitCalls(operation: string, name: string, summary: string): Calls {
  const request = limitRequests[operation] as SignedRequest
  return {
    [name]: [summary, (shop) => signedLimits(shop, request)],
    sign_in_required: challenge(() => (request.body === undefined ? {} : { body: request.body })),
  }
}

export async function signedLimits(shop: Shop, request: SignedRequest, at?: 'away'): Promise<Ask> {
  const { body } = request
  const headers = { 'sign-in-with-x': await shop.signIn(limitsPath, at, request) }
  return { headers, ...(body === undefined ? {} : { body }) }
}

export const successes: readonly Call[] = [reading, ...kinds.map(buying), orders, limits].flatMap(
  (byId) =>
    Object.entries(byId).flatMap(([operation, calls]) =>
      Object.entries(calls).map(([name, [summary, ask = nothing, status = 200, at]]) => ({
        ...{ operation, name, summary, status, ask },
        ...(at && { at }),
      })),
    ),
)
