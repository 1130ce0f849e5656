import { x402Client } from '@x402/core/client'
import {
  type CompleteSIWxInfo,
  createSIWxClientExtension,
  createSIWxPayload,
  encodeSIWxHeader,
} from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { rowsKept, settled } from './facts.ts'
import { callerFor, expectProblem } from './reading.ts'
import { bodyFor, buy, type Kind } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore()
const call = callerFor(store)
let buyer: Buyer
let other: Buyer
/** What the buyer's first answers were, oldest first. */
const bought: { kind: Kind; orderId: string; paymentId: string; transactionHash: string }[] = []
const goods: string[] = []

const esimList = '/api/catalog/esims/orders/info'
const list = '/api/catalog/orders'

beforeAll(async () => {
  buyer = await newBuyer()
  other = await newBuyer()
  for (const kind of ['esim', 'voucher', 'topup', 'esim'] as const) {
    const { answer } = await buy(store, buyer, kind, bodyFor(kind, 'OK'))
    expect(answer.status).toBe(200)
    bought.push({ kind, ...answer.body })
    const { code, activationCode, iccid } = answer.body.orders[0].result
    goods.push(...[code, activationCode, iccid].filter((secret) => secret !== undefined))
  }
  await buy(store, other, 'voucher', bodyFor('voucher', 'OK'))
  // No order moves by itself between two looks at the tables.
  await settled(store)
})

/** The challenge of a path, ready to be signed. */
async function challengeOf(path: string): Promise<CompleteSIWxInfo> {
  const { body } = await call(path)
  const { info, supportedChains } = body.extensions['sign-in-with-x']
  return { ...info, ...supportedChains[0] }
}

/** A `SIGN-IN-WITH-X` header as the stock helpers make it. */
async function signedHeader(wallet: Buyer, path = list): Promise<string> {
  const info = await challengeOf(path)
  return encodeSIWxHeader(await createSIWxPayload(info, wallet.account, info.uri))
}

const read = async (path: string, wallet = buyer) =>
  call(path, { headers: { 'sign-in-with-x': await signedHeader(wallet) } })

const idsOf = (items: readonly { readonly orderId: string }[]) =>
  items.map(({ orderId }) => orderId)
const newestFirst = (kind?: Kind) =>
  idsOf(bought.filter((order) => kind === undefined || order.kind === kind)).reverse()

describe('without a sign-in', () => {
  test.each([esimList, list])('%s asks for one, and for no money', async (path) => {
    const { status, headers, body } = await call(path)
    expect(status).toBe(402)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toMatchObject({
      x402Version: 2,
      error: expect.any(String),
      accepts: [],
      resource: { url: `${store.url}${path}` },
    })
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
    expect(Date.parse(info.issuedAt)).toBeLessThanOrEqual(Date.now())
    expect(Date.parse(info.expirationTime)).toBeGreaterThan(Date.now())
    expect(supportedChains).toEqual([{ chainId: 'eip155:84532', type: 'eip191' }])
  })

  test('each challenge has its own nonce, and asking stores nothing', async () => {
    const before = await rowsKept(store)
    const nonces = await Promise.all(
      Array.from({ length: 20 }, async () => (await challengeOf(list)).nonce),
    )
    expect(new Set(nonces).size).toBe(20)
    expect(await rowsKept(store)).toEqual(before)
  })
})

describe('signed in', () => {
  test('by the stock client alone, a wallet reads its eSIM orders', async () => {
    const client = new x402Client()
    client.registerExtension(createSIWxClientExtension({ signers: [buyer.account] }))
    const response = await wrapFetchWithPayment(fetch, client)(`${store.url}${esimList}`)
    expect(response.status).toBe(200)
    const page = (await response.json()) as { items: { orderId: string }[] }
    expect(idsOf(page.items)).toEqual(newestFirst('esim'))
  })

  test('a wallet sees all its orders, newest first, and nobody else’s', async () => {
    const { status, headers, body } = await read(list)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(body).toMatchObject({ total: 4, limit: 20, offset: 0 })
    expect(idsOf(body.items)).toEqual(newestFirst())
    const times = body.items.map(({ placed_at }: { placed_at: string }) => placed_at)
    expect([...times].sort().reverse()).toEqual(times)
    const esims = await read(esimList)
    expect(esims.body).toMatchObject({ total: 2, limit: 20, offset: 0 })
    expect(esims.body.items.every(({ kind }: { kind: string }) => kind === 'esim')).toBe(true)
    const others = await read(list, other)
    expect(others.body.total).toBe(1)
    expect(newestFirst()).not.toContain(others.body.items[0].orderId)
    expect((await read(list, await newBuyer(0n))).body).toMatchObject({ total: 0, items: [] })
  })

  test('pages of the list hold every order once', async () => {
    const pages = []
    for (const offset of [0, 1, 2, 3, 4]) {
      const { body } = await read(`${list}?limit=1&offset=${offset}`)
      expect(body).toMatchObject({ total: 4, limit: 1, offset })
      pages.push(...body.items)
    }
    expect(idsOf(pages)).toEqual(newestFirst())
    expect(idsOf((await read(`${esimList}?limit=100&offset=1`)).body.items)).toEqual(
      newestFirst('esim').slice(1),
    )
  })

  test('no list holds goods or personal fields', async () => {
    expect(goods.length).toBeGreaterThan(4)
    for (const path of [list, esimList]) {
      const { text, body } = await read(path)
      for (const secret of goods) expect(text).not.toContain(secret)
      expect(text).not.toMatch(/result|accessToken|Ada|Lovelace|\+1202555/)
      for (const item of body.items) {
        expect(item).toMatchObject({ state: 'FULFILLED', transactionHash: expect.any(String) })
      }
    }
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
    expect(others.status).toBe(200)
    expect(others.body.orders[0].result).toBeNull()
    for (const secret of goods) expect(others.text).not.toContain(secret)
  })
})

describe('what is no sign-in', () => {
  test('one that was used before is refused, everywhere', async () => {
    const header = { 'sign-in-with-x': await signedHeader(buyer) }
    expect((await call(list, { headers: header })).status).toBe(200)
    for (const path of [list, esimList, `${list}/${bought[0]?.orderId}`]) {
      const again = await call(path, { headers: header })
      expectProblem(again, { status: 401, code: 'sign_in_invalid' })
    }
  })

  test('of two uses at once one succeeds', async () => {
    const headers = { 'sign-in-with-x': await signedHeader(buyer) }
    const answers = await Promise.all(Array.from({ length: 5 }, () => call(list, { headers })))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401])
  })
})

describe('an order by what its payment is known by', () => {
  test('a transaction alone, which is public, tells its state and its times and nothing else', async () => {
    for (const { transactionHash } of bought) {
      const { status, body } = await call(`${list}?transactionHash=${transactionHash}`)
      expect([status, body]).toEqual([
        200,
        {
          transactionHash,
          state: 'FULFILLED',
          state_updated_at: expect.any(String),
          refund_state: null,
          refund_state_updated_at: null,
          message: expect.any(String),
        },
      ])
    }
  })

  test('is found by payment id, and with it by transaction, without goods', async () => {
    for (const { orderId, paymentId, transactionHash } of bought) {
      const byId = await call(`${list}?paymentId=${paymentId}`)
      const inCapitals = `0x${transactionHash.slice(2).toUpperCase()}`
      const byBoth = await call(`${list}?transactionHash=${inCapitals}&paymentId=${paymentId}`)
      const direct = await call(`${list}/${orderId}`)
      for (const { status, text } of [byId, byBoth]) {
        expect([status, text]).toEqual([200, direct.text])
      }
      expect(direct.body.orders[0].result).toBeNull()
      for (const secret of goods) expect(direct.text).not.toContain(secret)
    }
  })

  test('is not found by what belongs to none, or to two', async () => {
    const [one, two] = bought
    for (const query of [
      `paymentId=pay_${'0'.repeat(26)}`,
      `paymentId=${one?.orderId}`,
      `transactionHash=0x${'0'.repeat(64)}`,
      `transactionHash=${one?.transactionHash}&paymentId=${two?.paymentId}`,
    ]) {
      expectProblem(await call(`${list}?${query}`), { status: 404, code: 'order_not_found' })
    }
  })
})
