import { x402Client } from '@x402/core/client'
import { createSIWxClientExtension } from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { rowsKept } from './facts.ts'
import { callerFor, expectProblem } from './reading.ts'
import { bodyFor, buy, eventually, type Kind } from './requests.ts'
import { useStore } from './store.ts'
import { json, limitsAt, limitsPath, type Method, requestOf } from './wallet-limits.ts'

const store = useStore()
const call = callerFor(store)
const limits = limitsAt(call)

const half = { usdc: '0.50', atomic: '500000' }

describe('a purchase', () => {
  test('within the limits counts, and the next one that goes beyond is refused', async () => {
    const buyer = await limits.limitedTo({ perOrderUsdc: '0.50', perDayUsdc: '0.75' })
    expect((await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.status).toBe(200)
    const balance = await buyer.balance()
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
  })

  test.each<[string, Record<string, unknown>, Kind]>([
    ['kinds', { kinds: ['topup', 'esim'] }, 'voucher'],
    ['countries', { countries: ['DE'] }, 'voucher'],
    ['recipients', { recipients: ['+12025550199'] }, 'topup'],
    ['per_order', { perOrderUsdc: '0.1' }, 'topup'],
  ])('beyond %s is refused by its name, and nothing is charged', async (limit, body, kind) => {
    const buyer = await limits.limitedTo(body)
    const [rows, balance] = [await rowsKept(store), await buyer.balance()]
    const { answer } = await buy(store, buyer, kind, bodyFor(kind, 'OK'))
    const refused = { code: 'limit_exceeded', limit, charged: 'no' }
    expect(answer).toMatchObject({ status: 403, body: refused })
    expect(await buyer.balance()).toBe(balance)
    expect(await rowsKept(store)).toEqual(rows)
  })

  test('for somebody who is listed goes through', async () => {
    const buyer = await limits.limitedTo({ recipients: ['Ada@Example.com'] })
    const body = { ...bodyFor('voucher', 'OK'), email: 'ada@example.com' }
    expect((await buy(store, buyer, 'voucher', body)).answer.status).toBe(200)
    const kept = await store.query(
      'select in_force::text as kept from wallet_limits where wallet = $1',
      [buyer.address.toLowerCase()],
    )
    expect(JSON.stringify(kept)).not.toMatch(/ada@example/i)
  })

  test('that was made before the limits is shown again all the same', async () => {
    const buyer = await newBuyer()
    const headers = { 'idempotency-key': `before-${buyer.address}` }
    const first = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'), { headers })
    expect((await limits.as(buyer, 'PUT', { perDayUsdc: '0' })).status).toBe(200)
    const { orderId } = first.answer.body
    expect(await first.send()).toMatchObject({ status: 200, body: { orderId } })
  })

  test('of many at once goes through only while there is room', async () => {
    const buyer = await limits.limitedTo({ perDayUsdc: '1.7' })
    const balance = await buyer.balance()
    const done = await Promise.all(
      Array.from({ length: 8 }, () => buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))),
    )
    expect(done.filter(({ answer: { status } }) => status === 403)).toHaveLength(5)
    const paid = async () => balance - (await buyer.balance())
    expect(await eventually(paid, (amount) => amount === 1_500_000n)).toBe(1_500_000n)
    expect((await limits.as(buyer, 'GET')).body.lastDay.spent.atomic).toBe('1500000')
  })
})

test('what is looser waits a day, lifting included, and the answer says so', async () => {
  const buyer = await limits.limitedTo({ perOrderUsdc: '0.1' })
  const voucher = async () =>
    (await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))).answer.status
  const { body } = await limits.as(buyer, 'DELETE')
  expect(body).toMatchObject({ inForce: { perOrder: { usdc: '0.10' } }, coming: { limits: {} } })
  const waitMs = Date.parse(body.coming.from) - Date.now()
  expect(waitMs).toBeGreaterThan(23 * 3_600_000)
  expect(waitMs).toBeLessThanOrEqual(24 * 3_600_000)
  expect(await voucher()).toBe(403)
  await store.query(
    `update wallet_limits set coming_from = coming_from - interval '1 day' where wallet = $1`,
    [buyer.address.toLowerCase()],
  )
  expect(await voucher()).toBe(200)
})

describe('the sign-in', () => {
  test.each<[Method, unknown, string]>([
    ['GET', undefined, 'Show the limits of this wallet.'],
    [
      'PUT',
      { perDayUsdc: '2', kinds: ['esim'] },
      'Limit what this wallet buys here to: at most 2.00 USDC in any 24 hours; kinds esim.',
    ],
    ['DELETE', undefined, 'Lift all limits of this wallet.'],
  ])('that %s asks for says what it is for', async (method, body, statement) => {
    const answer = await call(limitsPath, requestOf(method, body))
    expect(answer.status).toBe(402)
    expect(answer.body).toMatchObject({ x402Version: 2, accepts: [] })
    expect(answer.body.extensions['sign-in-with-x'].info).toMatchObject({ statement })
  })

  test('of the stock client sets limits, which nobody else sees or changes', async () => {
    const wallet = await newBuyer(0n)
    const client = new x402Client()
    client.registerExtension(createSIWxClientExtension({ signers: [wallet.account] }))
    const body = JSON.stringify({ perOrderUsdc: '2.5', countries: ['us'] })
    const put = { method: 'PUT', headers: json, body }
    const set = await wrapFetchWithPayment(fetch, client)(`${store.url}${limitsPath}`, put)
    expect(set.status).toBe(200)
    const other = await newBuyer(0n)
    expect((await limits.as(other, 'DELETE')).body.inForce).toEqual({})
    expect((await limits.as(wallet, 'GET')).body).toMatchObject({
      wallet: wallet.address,
      inForce: { perOrder: { usdc: '2.50', atomic: '2500000' }, countries: ['US'] },
      coming: null,
      coolingHours: 24,
      lastDay: { spent: { usdc: '0.00', atomic: '0' }, remaining: null },
    })
  })

  test.each<[string, (wallet: Buyer) => Promise<string>]>([
    ['for reading', (wallet) => limits.signedHeader(wallet, 'GET')],
    ['for other limits', (wallet) => limits.signedHeader(wallet, 'PUT', { perDayUsdc: '1000' })],
    [
      'for the list of orders',
      (wallet) => limits.signedHeader(wallet, 'GET', undefined, '/api/catalog/orders'),
    ],
    ['that is none', async () => 'A'.repeat(40)],
  ])('%s sets no limits', async (_, headerFor) => {
    const wallet = await newBuyer(0n)
    const { headers, ...request } = requestOf('PUT', { perDayUsdc: '1' })
    const answer = await call(limitsPath, {
      ...request,
      headers: { ...headers, 'sign-in-with-x': await headerFor(wallet) },
    })
    expectProblem(answer, { status: 401, code: 'sign_in_invalid' })
    expect((await limits.as(wallet, 'GET')).body.inForce).toEqual({})
  })
})

test('a body that does not fit is refused with its field, before anything is signed', async () => {
  const answer = await call(limitsPath, requestOf('PUT', { kinds: ['vouchers'] }))
  expectProblem(answer, { status: 422, code: 'invalid_body', parameter: 'kinds' })
  expect(answer.body.detail).toContain('did you mean voucher?')
})
