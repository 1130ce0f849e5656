import { type Ask, type Call, newKey, type Outcome, type Shop } from './call.ts'

/** Calls about orders, refunds and webhooks that succeed, or are answered with a sign-in challenge. */
export const orderCalls: readonly Call[] = [
  good('getOrder', 'locked', 'For whoever knows the id: without the goods', 200, (shop) =>
    ofOrder(shop, 'OK'),
  ),
  good('getOrder', 'with_goods', 'With the access token of the first answer', 200, async (shop) => {
    const { orderId, accessToken } = await shop.bought('voucher', 'OK')
    return { params: { orderId }, headers: { authorization: `Bearer ${accessToken}` } }
  }),
  good('getOrder', 'refunded', 'An order that failed and was paid back', 200, (shop) =>
    ofOrder(shop, 'FAIL'),
  ),
  good('getOrder', 'expired', 'An order that expired; its refund is under way', 200, (shop) =>
    ofOrder(shop, 'HANG'),
  ),
  good('getReceipt', 'locked', 'For whoever knows the id: the receipt alone', 200, (shop) =>
    ofOrder(shop, 'OK'),
  ),
  good(
    'getReceipt',
    'with_goods',
    'With the access token: the goods beside it',
    200,
    async (shop) => {
      const { orderId, accessToken } = await shop.bought('voucher', 'OK')
      return { params: { orderId }, headers: { authorization: `Bearer ${accessToken}` } }
    },
  ),
  good('getReceipt', 'refunded', 'Of an order that was paid back', 200, (shop) =>
    ofOrder(shop, 'FAIL'),
  ),
  good('findOrders', 'page', 'The orders of a wallet', 200, async (shop) => ({
    query: 'limit=2',
    headers: await signedIn(shop, '/api/catalog/orders'),
  })),
  good(
    'findOrders',
    'one_order',
    'The order of a transaction, for its buyer',
    200,
    async (shop) => {
      const { transactionHash, accessToken } = await shop.bought('voucher', 'OK')
      const headers = { authorization: `Bearer ${accessToken}` }
      return { query: `transactionHash=${transactionHash}`, headers }
    },
  ),
  good('findOrders', 'standing', 'The order of a transaction, for anybody', 200, async (shop) => {
    const { transactionHash } = await shop.bought('voucher', 'OK')
    return { query: `transactionHash=${transactionHash}` }
  }),
  good('findOrders', 'sign_in_required', 'The challenge to sign', 402, () => ({})),
  good('listEsimOrders', 'page', 'The eSIM orders of a wallet', 200, async (shop) => {
    await shop.bought('esim', 'OK')
    return { query: 'limit=1', headers: await signedIn(shop, '/api/catalog/esims/orders/info') }
  }),
  good('listEsimOrders', 'sign_in_required', 'The challenge to sign', 402, () => ({})),
  good('claimRefund', 'refunded', 'It was paid back already', 200, async (shop) => ({
    ...(await ofOrder(shop, 'FAIL')),
    headers: newKey(),
    body: { reason: 'nothing arrived' },
  })),
  good('claimRefund', 'pending', 'It is under way', 202, async (shop) => ({
    ...(await ofOrder(shop, 'HANG')),
    headers: newKey(),
    body: { reason: 'nothing arrived' },
  })),
  good('getRefund', 'refunded', 'It was paid back', 200, (shop) => ofOrder(shop, 'FAIL')),
  good('getRefund', 'pending', 'It is under way', 202, (shop) => ofOrder(shop, 'HANG')),
  good('getWebhook', 'waiting', 'Its receiver is away', 200, withWebhook),
  good('redeliverWebhook', 'queued', 'All events are sent again', 202, withWebhook),
]

function good(
  operation: string,
  name: string,
  summary: string,
  status: number,
  ask: Call['ask'],
): Call {
  return { operation, name, summary, status, ask }
}

async function ofOrder(shop: Shop, outcome: Outcome): Promise<Ask> {
  const { orderId } = await shop.bought('voucher', outcome)
  return { params: { orderId } }
}

async function withWebhook(shop: Shop): Promise<Ask> {
  const { orderId, accessToken } = await shop.bought('esim', 'OK')
  return { params: { orderId }, headers: { authorization: `Bearer ${accessToken}` } }
}

async function signedIn(shop: Shop, path: string): Promise<Record<string, string>> {
  await shop.bought('voucher', 'OK')
  return { 'sign-in-with-x': await shop.signIn(path) }
}
