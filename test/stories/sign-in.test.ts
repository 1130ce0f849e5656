import { x402Client } from '@x402/core/client'
import { createSIWxClientExtension } from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { rowsKept, settled } from './facts.ts'
import { buyDelivered, callerFor, type Kind } from './requests.ts'
import { signInFor } from './signing-in.ts'
import { useStore } from './store.ts'

const store = useStore()
const call = callerFor(store)
let buyer: Buyer
let other: Buyer
/** What the buyer bought, oldest first. */
const bought: { kind: Kind; orderId: string; paymentId: string; transactionHash: string }[] = []
const goods: string[] = []

const esimList = '/api/catalog/esims/orders/info'
const list = '/api/catalog/orders'

beforeAll(async () => {
  buyer = await newBuyer()
  other = await newBuyer()
  for (const kind of ['esim', 'voucher', 'esim'] as const) {
    const { order } = await buyDelivered(store, buyer, kind)
    bought.push({ kind, ...order })
    const { code, activationCode, iccid } = order.orders[0].result
    goods.push(...[code, activationCode, iccid].filter((secret) => secret !== undefined))
  }
  await buyDelivered(store, other, 'voucher')
  // No order moves by itself between two looks at the tables.
  await settled(store)
})

const read = async (path: string, wallet = buyer) =>
  call(path, { headers: { 'sign-in-with-x': await signInFor(call, wallet, list) } })

const idsOf = (items: readonly { readonly orderId: string }[]) =>
  items.map(({ orderId }) => orderId)
const newestFirst = (kind?: Kind) =>
  idsOf(bought.filter((order) => kind === undefined || order.kind === kind)).reverse()

test.each([esimList, list])('%s asks for a sign-in and for no money', async (path) => {
  const before = await rowsKept(store)
  const { status, headers, body } = await call(path)
  expect(status).toBe(402)
  expect(headers.get('cache-control')).toBe('no-store')
  expect(body).toMatchObject({ x402Version: 2, accepts: [], resource: { url: store.url + path } })
  const { message: _, ...required } = body
  const header = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
  expect(JSON.parse(header)).toEqual(required)
  const { info, supportedChains } = body.extensions['sign-in-with-x']
  expect(info).toMatchObject({
    domain: new URL(store.url).host,
    uri: `${store.url}${path}`,
    version: '1',
    nonce: expect.stringMatching(/^[A-Za-z0-9]{16,}$/),
    statement: expect.any(String),
  })
  expect(supportedChains).toEqual([{ chainId: 'eip155:84532', type: 'eip191' }])
  expect(await rowsKept(store)).toEqual(before)
})

describe('signed in', () => {
  test.each([
    ['its eSIM orders', esimList, 'esim'],
    ['all its orders', list, undefined],
  ] as const)('by the stock client alone, a wallet reads %s', async (_, path, kind) => {
    const client = new x402Client()
    client.registerExtension(createSIWxClientExtension({ signers: [buyer.account] }))
    const response = await wrapFetchWithPayment(fetch, client)(`${store.url}${path}`)
    expect(response.status).toBe(200)
    const page = (await response.json()) as { items: { orderId: string }[] }
    expect(idsOf(page.items)).toEqual(newestFirst(kind))
  })

  test('a wallet sees all its orders, newest first, without goods, and nobody else’s', async () => {
    const { status, headers, body, text } = await read(list)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toMatchObject({ total: 3, limit: 20, offset: 0 })
    expect(idsOf(body.items)).toEqual(newestFirst())
    for (const secret of goods) expect(text).not.toContain(secret)
    expect(text).not.toMatch(/result|accessToken|Ada|Lovelace/)
    const others = await read(list, other)
    expect(others.body.total).toBe(1)
    expect(newestFirst()).not.toContain(others.body.items[0].orderId)
    const last = await read(`${esimList}?limit=1&offset=1`)
    expect(idsOf(last.body.items)).toEqual(newestFirst('esim').slice(1))
  })

  test('the paying wallet opens its goods, another one does not', async () => {
    const [first] = bought
    const path = `${list}/${first?.orderId}`
    const own = await read(path)
    expect(own.body.orders[0].result.iccid).toBe(goods.find((good) => good.startsWith('89')))
    expect(own.body).not.toHaveProperty('accessToken')
    const byTransaction = await read(`${list}?transactionHash=${first?.transactionHash}`)
    expect(byTransaction.body.orders).toEqual(own.body.orders)
    const others = await read(path, other)
    expect(others.body.orders[0].result).toBeNull()
    for (const secret of goods) expect(others.text).not.toContain(secret)
  })
})

describe('an order by what its payment is known by', () => {
  test('a transaction alone, which is public, tells its state and its times and nothing else', async () => {
    for (const { transactionHash } of bought) {
      const { status, body } = await call(`${list}?transactionHash=${transactionHash}`)
      const standing = {
        transactionHash,
        state: 'FULFILLED',
        state_updated_at: expect.any(String),
        refund_state: null,
        refund_state_updated_at: null,
        message: expect.any(String),
      }
      expect([status, body]).toEqual([200, standing])
    }
  })
})
