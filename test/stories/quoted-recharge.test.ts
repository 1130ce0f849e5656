import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { newBuyer } from './buyer.ts'
import { bodyFor, buy, get, purchasePath } from './requests.ts'
import { openStore, type Store } from './store.ts'

let store: Store
let supplier: StoryProxy

beforeAll(async () => {
  store = await openStore({
    offers: 50,
    supplierVia: async (url) => {
      supplier = await startProxy(url)
      return supplier.url
    },
  })
})
beforeEach(() => supplier.breakCalls())
afterAll(async () => {
  await store.close()
  await supplier.close()
})

const unknown = '8934071100000000001'

const quote = (iccid: string, headers: Record<string, string> = {}) =>
  get(store.url, `${purchasePath('esim')}?offerId=TEST-ESIM-OK&iccid=${iccid}`, headers)

const lookUps = () => supplier.calls.filter((call) => call.endsWith('/plans'))

test('an eSIM that the supplier knows has a price', async () => {
  const { answer } = await buy(store, await newBuyer(), 'esim', bodyFor('esim', 'OK'))
  const { iccid } = answer.body.orders[0].result
  const { status, body } = await quote(iccid)
  expect([status, body.usdc.amount]).toEqual([200, '500000'])
  expect(body.message).toMatch(
    new RegExp(`a recharge of the eSIM ${iccid}.* Nothing is bought yet.$`),
  )
  expect(lookUps()).toEqual([`GET /v1/esim/${iccid}/plans`])
})

test('one that nobody knows is refused in the words in which buying refuses it', async () => {
  const quoted = await quote(unknown)
  const body = { ...bodyFor('esim', 'OK'), iccid: unknown }
  const bought = (await buy(store, await newBuyer(), 'esim', body)).answer
  expect(quoted.status).toBe(422)
  expect(quoted.body).toMatchObject({ code: 'invalid_body', parameter: 'iccid', charged: 'no' })
  expect({ ...quoted.body, requestId: '' }).toEqual({ ...bought.body, requestId: '' })
})

test('who asks for one unknown eSIM after the other has to wait, paying or not', async () => {
  const headers = { 'x-forwarded-for': '10.9.0.7' }
  const buyer = await newBuyer()
  const body = { ...bodyFor('esim', 'OK'), iccid: unknown }
  for (let at = 0; at < 10; at += 1) {
    expect((await quote(unknown, headers)).status).toBe(422)
    expect((await buy(store, buyer, 'esim', body, { headers })).answer.status).toBe(422)
  }
  const before = lookUps().length
  const refused = await quote(unknown, headers)
  expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limited', charged: 'no' } })
  expect(refused.headers.get('ratelimit-policy')).toBe('"refused";q=20;w=60')
  expect((await buy(store, buyer, 'esim', body, { headers })).answer.status).toBe(429)
  expect(lookUps()).toHaveLength(before)
  const newEsim = `${purchasePath('esim')}?offerId=TEST-ESIM-OK`
  expect((await get(store.url, newEsim, headers)).status).toBe(200)
})
