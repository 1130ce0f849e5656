import { x402Client } from '@x402/core/client'
import {
  type CompleteSIWxInfo,
  createSIWxClientExtension,
  createSIWxPayload,
  encodeSIWxHeader,
} from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { rowsKept } from './facts.ts'
import { type Call, callerFor, expectProblem, openReadingStore, type Read } from './reading.ts'
import { bodyFor, buy, eventually, type Kind } from './requests.ts'
import type { Store } from './store.ts'

let store: Store
let call: Call

beforeAll(async () => {
  store = await openReadingStore()
  call = callerFor(store)
})
afterAll(() => store.close())

const path = '/api/catalog/limits'
const json = { 'content-type': 'application/json' }
type Method = 'GET' | 'PUT' | 'DELETE'

const requestOf = (method: Method, body?: unknown) => ({
  method,
  headers: body === undefined ? {} : json,
  ...(body === undefined ? {} : { body: JSON.stringify(body) }),
})

/** A sign-in for exactly this request, as its challenge asks for it. */
async function signedHeader(wallet: Buyer, method: Method, body?: unknown): Promise<string> {
  const challenge = await call(path, requestOf(method, body))
  expect(challenge.status, challenge.text).toBe(402)
  const { info, supportedChains } = challenge.body.extensions['sign-in-with-x']
  const full: CompleteSIWxInfo = { ...info, ...supportedChains[0] }
  return encodeSIWxHeader(await createSIWxPayload(full, wallet.account, info.uri))
}

async function as(wallet: Buyer, method: Method, body?: unknown): Promise<Read> {
  const header = await signedHeader(wallet, method, body)
  const { headers, ...request } = requestOf(method, body)
  return call(path, { ...request, headers: { ...headers, 'sign-in-with-x': header } })
}

/** A buyer whose wallet has limited itself. */
async function limitedTo(body: Record<string, unknown>): Promise<Buyer> {
  const wallet = await newBuyer()
  const answer = await as(wallet, 'PUT', body)
  expect(answer.status, answer.text).toBe(200)
  return wallet
}

/** Lets so much time go by for what is coming to this wallet. */
async function pass(wallet: Buyer, hours: number): Promise<void> {
  await store.query(
    `update wallet_limits set coming_from = coming_from - $2 * interval '1 hour' where wallet = $1`,
    [wallet.address.toLowerCase(), hours],
  )
}

const half = { usdc: '0.50', atomic: '500000' }

describe('without a sign-in', () => {
  test.each<[Method, unknown, string]>([
    ['GET', undefined, 'Show the limits of this wallet.'],
    [
      'PUT',
      { perDayUsdc: '2', kinds: ['esim'] },
      'Limit what this wallet buys here to: at most 2.00 USDC in any 24 hours; kinds esim.',
    ],
    ['DELETE', undefined, 'Lift all limits of this wallet.'],
  ])('%s asks for one, and says what it is for', async (method, body, statement) => {
    const answer = await call(path, requestOf(method, body))
    expect(answer.status).toBe(402)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toMatchObject({
      x402Version: 2,
      accepts: [],
      resource: { url: `${store.url}${path}` },
    })
    expect(answer.body.extensions['sign-in-with-x'].info).toMatchObject({
      uri: `${store.url}${path}`,
      statement,
    })
  })

  test('a page of another origin may ask for PUT and DELETE', async () => {
    const { headers } = await call(path, {
      method: 'OPTIONS',
      headers: { origin: 'https://agent.example', 'access-control-request-method': 'PUT' },
    })
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect(headers.get('access-control-allow-methods')).toContain(method)
    }
  })

  test('other methods are told which there are', async () => {
    const answer = await call(path, { method: 'POST', headers: json, body: '{}' })
    expectProblem(answer, { status: 405, code: 'method_not_allowed' })
    expect(answer.headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, PUT')
  })
})

describe('signed in', () => {
  test('by the stock client alone, a wallet sets its limits and sees them', async () => {
    const wallet = await newBuyer(0n)
    const client = new x402Client()
    client.registerExtension(createSIWxClientExtension({ signers: [wallet.account] }))
    const fetchSigned = wrapFetchWithPayment(fetch, client)
    const body = JSON.stringify({ perOrderUsdc: '2.5', countries: ['us'] })
    const set = await fetchSigned(`${store.url}${path}`, { method: 'PUT', headers: json, body })
    expect(set.status).toBe(200)
    const shown = await as(wallet, 'GET')
    expect(shown.headers.get('cache-control')).toBe('no-store')
    expect(shown.body).toMatchObject({
      wallet: wallet.address,
      inForce: { perOrder: { usdc: '2.50', atomic: '2500000' }, countries: ['US'] },
      coming: null,
      coolingHours: 24,
      lastDay: { spent: { usdc: '0.00', atomic: '0' }, remaining: null },
    })
  })

  test('nobody sees or changes the limits of somebody else', async () => {
    const wallet = await limitedTo({ recipients: ['+12025550123'] })
    const other = await newBuyer(0n)
    expect((await as(other, 'GET')).body).toMatchObject({ wallet: other.address, inForce: {} })
    await as(other, 'DELETE')
    expect((await as(wallet, 'GET')).body.inForce).toEqual({ recipients: 1 })
    const [row] = await store.query('select in_force::text from wallet_limits where wallet = $1', [
      wallet.address.toLowerCase(),
    ])
    expect(row.in_force).not.toContain('2025550123')
  })

  const small = { perDayUsdc: '1' }
  test.each<[string, (wallet: Buyer) => Promise<string>]>([
    ['for reading', (wallet) => signedHeader(wallet, 'GET')],
    ['for other limits', (wallet) => signedHeader(wallet, 'PUT', { perDayUsdc: '1000' })],
    ['for lifting them', (wallet) => signedHeader(wallet, 'DELETE')],
    [
      'for the list of orders',
      async (wallet) => {
        const { body } = await call('/api/catalog/orders')
        const { info, supportedChains } = body.extensions['sign-in-with-x']
        const full = { ...info, ...supportedChains[0] }
        return encodeSIWxHeader(await createSIWxPayload(full, wallet.account, info.uri))
      },
    ],
    ['that is none', async () => 'A'.repeat(40)],
  ])('one %s sets no limits', async (_, headerFor) => {
    const wallet = await newBuyer(0n)
    const { headers, ...request } = requestOf('PUT', small)
    const header = await headerFor(wallet)
    const answer = await call(path, {
      ...request,
      headers: { ...headers, 'sign-in-with-x': header },
    })
    expectProblem(answer, { status: 401, code: 'sign_in_invalid' })
    expect((await as(wallet, 'GET')).body.inForce).toEqual({})
  })

  test('one that was used is not good again', async () => {
    const wallet = await newBuyer(0n)
    const header = await signedHeader(wallet, 'DELETE')
    const request = { method: 'DELETE', headers: { 'sign-in-with-x': header } }
    expect((await call(path, request)).status).toBe(200)
    expectProblem(await call(path, request), { status: 401, code: 'sign_in_invalid' })
  })
})

describe('a purchase', () => {
  test('within the limits counts, and the next one that goes beyond is refused', async () => {
    const buyer = await limitedTo({ perOrderUsdc: '0.50', perDayUsdc: '0.75', kinds: ['voucher'] })
    expect((await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.status).toBe(200)
    expect((await as(buyer, 'GET')).body.lastDay).toMatchObject({
      spent: half,
      remaining: { usdc: '0.25', atomic: '250000' },
    })
    const [rows, balance] = [await rowsKept(store), await buyer.balance()]
    const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
    expect(answer).toMatchObject({
      status: 403,
      body: {
        code: 'limit_exceeded',
        charged: 'no',
        retryable: false,
        limit: 'per_day',
        asked: half,
        spent: half,
        remaining: { usdc: '0.25', atomic: '250000' },
        until: expect.stringMatching(/^\d{4}-/),
      },
    })
    expect(await buyer.balance()).toBe(balance)
    expect(await rowsKept(store)).toMatchObject({
      orders: rows['orders'],
      payments: rows['payments'],
      keys: rows['keys'],
    })
  })

  test.each<[string, Record<string, unknown>, Kind]>([
    ['kinds', { kinds: ['topup', 'esim'] }, 'voucher'],
    ['countries', { countries: ['DE'] }, 'voucher'],
    ['recipients', { recipients: ['+12025550199'] }, 'topup'],
    ['recipients', { recipients: ['ada@example.com'] }, 'voucher'],
    ['recipients', { recipients: ['+12025550123'] }, 'esim'],
    ['per_order', { perOrderUsdc: '0.1' }, 'topup'],
    ['per_day', { perDayUsdc: '0' }, 'esim'],
  ])('beyond %s is refused by its name, and nothing is charged', async (limit, body, kind) => {
    const buyer = await limitedTo(body)
    const [rows, balance] = [await rowsKept(store), await buyer.balance()]
    const { answer } = await buy(store, buyer, kind, bodyFor(kind, 'OK'), {
      headers: { 'idempotency-key': `key-${buyer.address}` },
    })
    expect(answer).toMatchObject({
      status: 403,
      body: {
        code: 'limit_exceeded',
        limit,
        charged: 'no',
        type: `${store.url}/errors#limit_exceeded`,
      },
    })
    expect(await buyer.balance()).toBe(balance)
    expect(await rowsKept(store)).toEqual(rows)
  })

  test('for somebody who is listed goes through', async () => {
    const buyer = await limitedTo({ recipients: ['+12025550123', 'Ada@Example.com'] })
    const body = { ...bodyFor('voucher', 'OK'), email: 'ada@example.com' }
    expect((await buy(store, buyer, 'topup', bodyFor('topup', 'OK'))).answer.status).toBe(200)
    expect((await buy(store, buyer, 'voucher', body)).answer.status).toBe(200)
    const [kept] = await store.query('select count(recipient_digest)::int as digests from orders')
    expect(kept).toEqual({ digests: 0 })
  })

  test('that was made before the limits is shown again all the same', async () => {
    const buyer = await newBuyer()
    const headers = { 'idempotency-key': `before-${buyer.address}` }
    const { answer, send } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'), {
      headers,
    })
    expect((await as(buyer, 'PUT', { perDayUsdc: '0', kinds: ['esim'] })).status).toBe(200)
    const again = await send()
    expect(again).toMatchObject({ status: 200, body: { orderId: answer.body.orderId } })
    expect(again.body.orders[0].result.code).toBe(answer.body.orders[0].result.code)
  })

  test('of many at once goes through only while there is room', async () => {
    const buyer = await limitedTo({ perDayUsdc: '1.7' })
    const balance = await buyer.balance()
    const done = await Promise.all(
      Array.from({ length: 8 }, () => buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))),
    )
    const statuses = done.map(({ answer }) => answer.status)
    expect(statuses.filter((status) => status === 200 || status === 202)).toHaveLength(3)
    expect(statuses.filter((status) => status === 403)).toHaveLength(5)
    const paid = async () => balance - (await buyer.balance())
    expect(await eventually(paid, (amount) => amount === 1_500_000n)).toBe(1_500_000n)
    expect((await as(buyer, 'GET')).body.lastDay.spent.atomic).toBe('1500000')
  })
})

describe('what is looser', () => {
  const voucherOf = async (buyer: Buyer) =>
    (await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.status

  test('waits a day, and the answer says so', async () => {
    const buyer = await limitedTo({ perOrderUsdc: '0.1' })
    const { body } = await as(buyer, 'PUT', { perOrderUsdc: '5', kinds: ['voucher'] })
    expect(body).toMatchObject({
      inForce: { perOrder: { usdc: '0.10' }, kinds: ['voucher'] },
      coming: { limits: { perOrder: { usdc: '5.00' }, kinds: ['voucher'] } },
    })
    const waitMs = Date.parse(body.coming.from) - Date.now()
    expect(waitMs).toBeGreaterThan(23 * 3_600_000)
    expect(waitMs).toBeLessThanOrEqual(24 * 3_600_000)
    expect(await voucherOf(buyer)).toBe(403)
    await pass(buyer, 24)
    expect(await voucherOf(buyer)).toBe(200)
    expect((await as(buyer, 'GET')).body).toMatchObject({
      inForce: { perOrder: { usdc: '5.00' }, kinds: ['voucher'] },
      coming: null,
    })
  })

  test('is what DELETE leads to, and can be called back', async () => {
    const buyer = await limitedTo({ perDayUsdc: '0' })
    const lifted = await as(buyer, 'DELETE')
    expect(lifted.body).toMatchObject({
      inForce: { perDay: { usdc: '0.00' } },
      coming: { limits: {} },
    })
    expect(await voucherOf(buyer)).toBe(403)
    expect((await as(buyer, 'PUT', { perDayUsdc: '0' })).body.coming).toBeNull()
    await as(buyer, 'DELETE')
    await pass(buyer, 24)
    expect(await voucherOf(buyer)).toBe(200)
  })
})

describe('a body that does not fit', () => {
  test.each<[unknown, string, string]>([
    [{ perOrderUsdc: 5 }, 'perOrderUsdc', 'written as text'],
    [{ perDayUsdc: '-1' }, 'perDayUsdc', 'such as "25"'],
    [{ perDayUSDC: '1' }, 'perDayUSDC', 'did you mean perDayUsdc?'],
    [{ kinds: ['vouchers'] }, 'kinds', 'did you mean voucher?'],
    [{ countries: ['UK'] }, 'countries', 'did you mean GB?'],
    [{ recipients: ['12345'] }, 'recipients', 'E.164'],
    [{ recipients: [] }, 'recipients', 'leave it out'],
    [{}, 'perOrderUsdc', 'send DELETE'],
    [undefined, 'perOrderUsdc', 'send DELETE'],
  ])('%j is refused with its field, before anything is signed', async (body, parameter, hint) => {
    const answer = await call(path, requestOf('PUT', body))
    expectProblem(answer, { status: 422, code: 'invalid_body', parameter })
    expect(answer.body.detail).toContain(hint)
  })

  test.each(['[]', '"x"', '{', '7'])('%s is no JSON object', async (body) => {
    const answer = await call(path, { method: 'PUT', headers: json, body })
    expectProblem(answer, { status: 400, code: 'invalid_json' })
  })

  test('a longer one than is read is refused', async () => {
    const body = JSON.stringify({ countries: Array(4_000).fill('US') })
    const answer = await call(path, { method: 'PUT', headers: json, body })
    expectProblem(answer, { status: 413, code: 'body_too_large' })
  })
})
