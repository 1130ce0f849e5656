import { x402Client } from '@x402/core/client'
import { createSIWxClientExtension } from '@x402/extensions/sign-in-with-x'
import { wrapFetchWithPayment } from '@x402/fetch'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from './buyer.ts'
import { callerFor, expectProblem } from './reading.ts'
import { useStore } from './store.ts'
import { json, limitsAt, limitsPath, type Method, requestOf } from './wallet-limits.ts'

const store = useStore()
const call = callerFor(store)
let limits: ReturnType<typeof limitsAt>

beforeAll(async () => {
  limits = limitsAt(call)
})

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
    const answer = await call(limitsPath, requestOf(method, body))
    expect(answer.status).toBe(402)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.body).toMatchObject({
      x402Version: 2,
      accepts: [],
      resource: { url: `${store.url}${limitsPath}` },
    })
    expect(answer.body.extensions['sign-in-with-x'].info).toMatchObject({
      uri: `${store.url}${limitsPath}`,
      statement,
    })
  })

  test('a page of another origin may ask for PUT and DELETE', async () => {
    const { headers } = await call(limitsPath, {
      method: 'OPTIONS',
      headers: { origin: 'https://agent.example', 'access-control-request-method': 'PUT' },
    })
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect(headers.get('access-control-allow-methods')).toContain(method)
    }
  })

  test('other methods are told which there are', async () => {
    const answer = await call(limitsPath, { method: 'POST', headers: json, body: '{}' })
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
    const set = await fetchSigned(`${store.url}${limitsPath}`, {
      method: 'PUT',
      headers: json,
      body,
    })
    expect(set.status).toBe(200)
    const shown = await limits.as(wallet, 'GET')
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
    const wallet = await limits.limitedTo({ recipients: ['+12025550123'] })
    const other = await newBuyer(0n)
    expect((await limits.as(other, 'GET')).body).toMatchObject({
      wallet: other.address,
      inForce: {},
    })
    await limits.as(other, 'DELETE')
    expect((await limits.as(wallet, 'GET')).body.inForce).toEqual({ recipients: 1 })
    const [row] = await store.query('select in_force::text from wallet_limits where wallet = $1', [
      wallet.address.toLowerCase(),
    ])
    expect(row.in_force).not.toContain('2025550123')
  })

  const small = { perDayUsdc: '1' }
  test.each<[string, (wallet: Buyer) => Promise<string>]>([
    ['for reading', (wallet) => limits.signedHeader(wallet, 'GET')],
    ['for other limits', (wallet) => limits.signedHeader(wallet, 'PUT', { perDayUsdc: '1000' })],
    ['for lifting them', (wallet) => limits.signedHeader(wallet, 'DELETE')],
    [
      'for the list of orders',
      (wallet) => limits.signedHeader(wallet, 'GET', undefined, '/api/catalog/orders'),
    ],
    ['that is none', async () => 'A'.repeat(40)],
  ])('one %s sets no limits', async (_, headerFor) => {
    const wallet = await newBuyer(0n)
    const { headers, ...request } = requestOf('PUT', small)
    const header = await headerFor(wallet)
    const answer = await call(limitsPath, {
      ...request,
      headers: { ...headers, 'sign-in-with-x': header },
    })
    expectProblem(answer, { status: 401, code: 'sign_in_invalid' })
    expect((await limits.as(wallet, 'GET')).body.inForce).toEqual({})
  })

  test('one that was used is not good again', async () => {
    const wallet = await newBuyer(0n)
    const header = await limits.signedHeader(wallet, 'DELETE')
    const request = { method: 'DELETE', headers: { 'sign-in-with-x': header } }
    expect((await call(limitsPath, request)).status).toBe(200)
    expectProblem(await call(limitsPath, request), { status: 401, code: 'sign_in_invalid' })
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
    const answer = await call(limitsPath, requestOf('PUT', body))
    expectProblem(answer, { status: 422, code: 'invalid_body', parameter })
    expect(answer.body.detail).toContain(hint)
  })
})
