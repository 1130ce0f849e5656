import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Buyer } from './buyer.ts'
import { callerFor } from './reading.ts'
import { bodyFor, eventually, get, post, purchasePath } from './requests.ts'
import type { Store } from './store.ts'
import { limitsAt } from './wallet-limits.ts'

// What may come between two equal paid requests, made to happen.

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

/** The wallet lets itself buy nothing from now on. */
export async function buyNothing(store: Store, buyer: Buyer): Promise<void> {
  const answer = await limitsAt(callerFor(store)).as(buyer, 'PUT', { perDayUsdc: '0' })
  if (answer.status !== 200) throw new Error(`The limits were not set: ${answer.text}`)
}
