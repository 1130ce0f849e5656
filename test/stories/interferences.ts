import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { numberToHex, toFunctionSelector } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startProxy } from '../harness/proxy.ts'
import { openBehind } from './behind.ts'
import type { Buyer } from './buyer.ts'
import { callerFor } from './reading.ts'
import { bodyFor, buy, eventually, get, type Kind, post, purchasePath, until } from './requests.ts'
import { openNode, openSibling, type Store, siblingSettings } from './store.ts'
import { limitsAt } from './wallet-limits.ts'

// What may come between two equal paid requests, made to happen.

export type Node = Pick<Awaited<ReturnType<typeof openNode>>, 'url' | 'close'>

/** The nodes of a store, each with something that keeps it from selling what the first one sold. */
export async function nodesOf(store: Store) {
  // Its own list is read before the supplier has the offers again.
  await store.admin('/offers', { offerId: 'TEST-VOUCHER-OK', price: 90 })
  await store.admin('/offers', { offerId: 'TEST-TOPUP-OK', enabled: false })
  const later = await openSibling(store)
  await eventually(priceAt(later, 'topup'), ({ status }) => status !== 402)
  // Else every topup would be refunded, and the budget of its receiver would end.
  await store.admin('/offers', { offerId: 'TEST-TOPUP-OK', enabled: true })
  const poor = { ...(await siblingSettings(store)), refundKey: generatePrivateKey() }
  const [paused, strict, alone, doubting] = await Promise.all([
    openNode(poor, store.parts),
    openSibling(store, { FAILED_ORDERS_PER_HOUR: '1' }),
    openAlone(store),
    openDoubting(store),
  ])
  await eventually(priceAt(paused, 'esim'), ({ status }) => status === 503)
  return { later, paused, strict, alone, doubting }
}

function priceAt({ url }: { url: string }, kind: Kind) {
  return () => post(url, purchasePath(kind), bodyFor(kind, 'OK'))
}

/** A node that hears nothing of the supplier and the chain any more. */
async function openAlone(store: Store): Promise<Node> {
  const settings = await siblingSettings(store)
  const rpc = await startProxy(settings.rpcUrl)
  const supplier = await startProxy(settings.supplierUrl)
  const through = { ...settings, rpcUrl: rpc.url, supplierUrl: supplier.url }
  const node = await openNode(through, store.parts)
  for (const proxy of [rpc, supplier]) proxy.breakCalls(() => 'swallow')
  return {
    url: node.url,
    async close() {
      await node.close()
      await Promise.all([rpc.close(), supplier.close()])
    },
  }
}

const selectors = {
  balanceOf: toFunctionSelector('balanceOf(address)'),
  settlement: toFunctionSelector(
    'transferWithAuthorization(address,address,uint256,uint256,uint256,bytes32,uint8,bytes32,bytes32)',
  ),
}
const poorPayer = { code: 3, message: 'execution reverted: ERC20: transfer amount exceeds balance' }

/** A node whose backend of the chain has not seen yet that any payer was funded. */
function openDoubting(store: Store): Promise<Node> {
  return openBehind(store, ({ refundKey }) => {
    const own = privateKeyToAccount(refundKey).address.slice(2).toLowerCase()
    return (method, [call]) => {
      const { data = '' } = (call ?? {}) as { data?: string }
      if (data.startsWith(selectors.settlement)) return { error: poorPayer }
      const isOfPayer = data.startsWith(selectors.balanceOf) && !data.endsWith(own)
      return method === 'eth_call' && isOfPayer
        ? { result: numberToHex(0, { size: 32 }) }
        : undefined
    }
  })
}

export type Limit = 'purchase' | 'refused' | 'all' | 'at once'

const addresses = { purchase: '10.77.0.1', refused: '10.77.0.2', all: '10.77.0.3' }

/** An address that has used up what it may do, until it is let go. */
export async function limitedAddress(
  url: string,
  limit: Limit,
): Promise<{ readonly address: string; readonly letGo: () => void }> {
  if (limit === 'at once') return crowdedAddress(url)
  const address = addresses[limit]
  const headers = { 'x-forwarded-for': address }
  const path = purchasePath('voucher')
  const prove = { ...headers, 'payment-signature': 'x' }
  if (limit === 'refused') {
    await untilLimited(() => post(url, path, bodyFor('voucher', 'OK'), prove))
  } else await untilLimited(() => get(url, `${path}?offerId=X`, headers))
  if (limit === 'all') await untilLimited(() => get(url, '/api/catalog/topups/regions', headers))
  return { address, letGo: () => undefined }
}

/** More than any limit allows in a minute. */
const maxAsked = 400

export async function untilLimited(ask: () => Promise<{ readonly status: number }>): Promise<void> {
  for (let asked = 0; asked < maxAsked; asked += 1) if ((await ask()).status === 429) return
  throw new Error(`${maxAsked} requests are within the limit.`)
}

/** As many requests as one address may have under way. */
const maxAtOnce = 64

/** An address with so many requests under way: their bodies never come. */
async function crowdedAddress(url: string) {
  const address = ['10', '78', ...randomBytes(2)].join('.')
  const { port, hostname, host } = new URL(url)
  const sockets: Socket[] = []
  for (let count = 0; count < maxAtOnce; count += 1) {
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    sockets.push(socket)
    socket.write(
      `POST /mcp HTTP/1.1\r\nhost: ${host}\r\nx-forwarded-for: ${address}\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n`,
    )
  }
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const headers = { 'x-forwarded-for': address }
  await eventually(
    () => get(url, '/api/catalog/topups/regions', headers),
    ({ body }) => body.detail?.startsWith(`More than ${maxAtOnce} requests at once`),
  )
  return { address, letGo: () => sockets.forEach((socket) => void socket.destroy()) }
}

/** Spends the budget of failed orders that `strict` gives a wallet. */
export async function spendBudget(store: Store, buyer: Buyer): Promise<void> {
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'FAIL'))
  const { orderId } = answer.body
  await until(store, orderId, ({ orders: [one] }) => one.state === 'FULFILLMENT_FAILED')
}

/** The wallet lets itself buy nothing from now on. */
export async function buyNothing(store: Store, buyer: Buyer): Promise<void> {
  const answer = await limitsAt(callerFor(store)).as(buyer, 'PUT', { perDayUsdc: '0' })
  if (answer.status !== 200) throw new Error(`The limits were not set: ${answer.text}`)
}

/** A sign-in that was used. */
export async function usedSignIn(store: Store, buyer: Buyer): Promise<string> {
  const path = '/api/catalog/orders'
  const header = await limitsAt(callerFor(store)).signedHeader(buyer, 'GET', undefined, path)
  const { status } = await get(store.url, path, { 'sign-in-with-x': header })
  if (status !== 200) throw new Error(`The sign-in was answered ${status}.`)
  return header
}
