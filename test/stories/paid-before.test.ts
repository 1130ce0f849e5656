import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, describe, expect, test } from 'vitest'
import { maxAtOnce } from '../../src/http/gate.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, buy, eventually, get, post, purchasePath, termsOf } from './requests.ts'
import { useStore } from './store.ts'

// A payment that is sent again is answered with its order, whatever has come between; and who is
// refused before that order could be looked for never hears that nothing was charged.

const store = useStore()
let buyer: Buyer

const voucher = bodyFor('voucher', 'OK')
const path = purchasePath('voucher')
const topupRegions = '/api/catalog/topups/regions'

beforeAll(async () => {
  buyer = await newBuyer()
})

const newKey = () => ({ 'idempotency-key': `key-${randomBytes(12).toString('hex')}` })
const decoded = (header: string) => JSON.parse(Buffer.from(header, 'base64').toString())
const anAddress = () => [10, ...randomBytes(3)].join('.')

/** Uses up what this address may do in a minute: purchases, refused payments or reading. */
async function useUp(address: string, limit: 'purchase' | 'refused' | 'reading'): Promise<void> {
  const headers = { 'x-forwarded-for': address }
  const ask: Record<typeof limit, () => Promise<{ status: number }>> = {
    purchase: () => get(store.url, `${path}?offerId=X`, headers),
    refused: () => post(store.url, path, voucher, { ...headers, 'payment-signature': 'x' }),
    reading: () => get(store.url, topupRegions, headers),
  }
  let status = 0
  while (status !== 429) status = (await ask[limit]()).status
}

/** Puts as many requests under way from an address as it may have: their bodies never come. */
async function crowd(address: string): Promise<() => void> {
  const { port, hostname, host } = new URL(store.url)
  const sockets = Array.from({ length: maxAtOnce }, () => connect(Number(port), hostname))
  for (const socket of sockets) {
    const head = [`POST /mcp HTTP/1.1`, `host: ${host}`, `x-forwarded-for: ${address}`]
    head.push('content-type: application/json', 'content-length: 2')
    socket.on('error', () => undefined).write(`${head.join('\r\n')}\r\n\r\n`)
  }
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  await eventually(
    () => get(store.url, topupRegions, { 'x-forwarded-for': address }),
    ({ status }) => status === 429,
  )
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

/** Calls `buy` from an address, without a client that would look at the result. */
function toolCall(address: string, meta: object) {
  const params = { name: 'buy', arguments: voucher, _meta: meta }
  const headers = { 'x-forwarded-for': address, accept: 'application/json, text/event-stream' }
  return post(store.url, '/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/call', params }, headers)
}

describe('a paid request that comes again is answered with its order', () => {
  test.each(['purchase', 'refused', 'at once'] as const)('above the limit of %s', async (limit) => {
    const headers = newKey()
    const first = await buy(store, buyer, 'voucher', voucher, { headers })
    const address = anAddress()
    const letGo = limit === 'at once' ? await crowd(address) : await useUp(address, limit)
    const from = { 'x-forwarded-for': address }
    const balance = await buyer.balance()
    const { orderId, orders, transactionHash } = first.answer.body
    expect(await first.send(from)).toMatchObject({ status: 200, body: { orderId, orders } })
    const over = await toolCall(address, { 'x402/payment': decoded(first.payment.header) })
    expect(JSON.stringify(over.body)).toContain(transactionHash)
    expect(await buyer.balance()).toBe(balance)
    letGo?.()
  })
})

describe('whoever pays and is refused before the order was looked for hears that nothing is known', () => {
  const newPayment = async (wallet = buyer) => {
    const { header } = await wallet.sign(await termsOf(store.url, 'voucher', voucher))
    return { 'payment-signature': header }
  }

  test('above the limits of buying and of reading together', async () => {
    const address = anAddress()
    await useUp(address, 'purchase')
    await useUp(address, 'reading')
    const headers = { 'x-forwarded-for': address }
    const paid = await post(store.url, path, voucher, { ...headers, ...(await newPayment()) })
    expect(paid).toMatchObject({ status: 429, body: { charged: 'unknown' } })
    const unpaid = await post(store.url, path, voucher, headers)
    expect(unpaid).toMatchObject({ status: 429, body: { charged: 'no' } })
    const over = await toolCall(address, {})
    expect(over).toMatchObject({ status: 429, body: { charged: 'unknown' } })
  })
})
