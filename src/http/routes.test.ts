import Fastify from 'fastify'
import { describe, expect, test } from 'vitest'
import { newOrderId } from '../../test/doubles/ids.ts'
import { testApp } from '../../test/fixtures/app.ts'
import { didOf } from '../api/buying/payment-required.ts'
import type { BuyingDeps, Site, StoreDeps } from '../api/operation.ts'
import { DidDocument, JwkSet, keySets, ready } from '../api/store.ts'
import { createHealth } from '../health/health.ts'
import { Refusal } from '../lib/refusal.ts'
import { supplierReferenceOf } from '../orders/order.ts'
import type { OrderStore } from '../orders/ports.ts'
import { createSigningKeys } from '../secrets/secrets.ts'
import { routeOperations, routeStoreOperations, routeSupplierWebhook } from './routes.ts'

const id = `ord_${'0'.repeat(26)}`
const down = async () => {
  throw new Error('connect ECONNREFUSED 127.0.0.1:5432')
}

function storeWithoutDatabase() {
  const { app, logged, deps: shared } = testApp()
  const orders = { find: down, findByTransaction: down } as Partial<OrderStore>
  const deps = { orders, signIn: {} } as BuyingDeps
  routeOperations(app, deps, shared.limits)
  return { app, logged }
}

describe('while the orders cannot be read', () => {
  test.each([
    [`/api/catalog/orders/${id}`, undefined],
    [`/api/catalog/orders?transactionHash=0x${'1'.repeat(64)}`, undefined],
    [`/api/catalog/orders/${id}/refund`, 'unknown'],
  ])('GET %s says that it will do later', async (url, charged) => {
    const { app, logged } = storeWithoutDatabase()
    const answer = await app.inject({ url })
    expect(answer.statusCode).toBe(503)
    expect(answer.headers['retry-after']).toBe('5')
    expect(answer.json()).toMatchObject({ code: 'try_again', retryable: true })
    expect(answer.json().charged).toBe(charged)
    expect(answer.body).not.toContain('ECONNREFUSED')
    expect(logged.join()).toContain('ECONNREFUSED')
  })

  test('a refund claim is told to come again, not that nothing was charged', async () => {
    const { app } = storeWithoutDatabase()
    const answer = await app.inject({
      method: 'POST',
      url: `/api/catalog/orders/${id}/refund`,
      headers: { 'idempotency-key': 'a-claim-that-comes-again' },
      payload: {},
    })
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toMatchObject({ code: 'try_again', charged: 'unknown' })
  })

  test('what is asked wrongly is still refused for what it is', async () => {
    const { app } = storeWithoutDatabase()
    const answer = await app.inject({ url: '/api/catalog/orders/no-order-id' })
    expect(answer.statusCode).toBe(404)
  })
})

const oldKey = Buffer.alloc(32, 1)
const newKey = Buffer.alloc(32, 2)
const siteAt = (url: string) => ({ url }) as Site

async function published(url: string, operatorKeys: readonly Buffer[] = [oldKey]) {
  const app = Fastify()
  const keys = createSigningKeys(operatorKeys, 'receipts')
  const deps: Partial<StoreDeps> = { site: siteAt(url), keys }
  const nobody = { token: undefined, isOpenHere: false }
  routeStoreOperations(app, deps as StoreDeps, keySets, nobody)
  const read = async (path: string) => (await app.inject(path)).json()
  return { keys, read }
}

describe('the store as a signer', () => {
  test.each([
    ['https://shop.example', 'did:web:shop.example'],
    ['http://localhost:4021', 'did:web:localhost%3A4021'],
    ['https://shop.example/kiosk/one', 'did:web:shop.example:kiosk:one'],
  ])('%s is named %s', (url, did) => {
    expect(didOf(siteAt(url))).toBe(did)
  })

  test('publishes its key with its thumbprint as a name', async () => {
    const { keys, read } = await published('https://shop.example')
    const set = JwkSet.strict().parse(await read('/.well-known/jwks.json'))
    expect(set.keys).toEqual(keys.published)
    expect(set.keys[0]?.kid).toBe(keys.current.kid)
  })

  test('publishes the same keys for those who look for a DID', async () => {
    const { keys, read } = await published('https://shop.example')
    const document = DidDocument.strict().parse(await read('/.well-known/did.json'))
    const id = `did:web:shop.example#${keys.current.kid}`
    expect(document).toMatchObject({ id: 'did:web:shop.example', assertionMethod: [id] })
    expect(document.verificationMethod).toMatchObject([{ id, publicKeyJwk: keys.published[0] }])
  })

  test('under a path has its document where did:web looks for it', async () => {
    const { read } = await published('https://shop.example/kiosk')
    expect((await read('/did.json')).id).toBe('did:web:shop.example:kiosk')
  })

  test('publishes a key that no longer signs, so that what it signed can be checked', async () => {
    const before = await published('https://shop.example')
    const { keys, read } = await published('https://shop.example', [newKey, oldKey])
    const kids = (await read('/.well-known/jwks.json')).keys.map(({ kid }: { kid: string }) => kid)
    expect(kids).toEqual([keys.current.kid, before.keys.current.kid])
    expect((await read('/.well-known/did.json')).assertionMethod).toHaveLength(2)
  })
})

const token = 'sixteen-letters-'
const fault = 'connect ECONNREFUSED 10.0.0.7:5432'

/** The probe of a store whose database is down. */
function probed(access: { token: string | undefined; isOpenHere: boolean }) {
  const app = Fastify()
  const health = createHealth(() => new Date())
  for (let time = 0; time < 9; time += 1) health.note('database', false, fault)
  const deps: Partial<StoreDeps> = { health, draining: new AbortController().signal }
  routeStoreOperations(app, deps as StoreDeps, [ready], access)
  const ask = (headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') =>
    app.inject({ url: '/readyz', remoteAddress, headers: { host: 'localhost:8402', ...headers } })
  return { ask }
}

test('strangers read which part is down, and the operator why as well', async () => {
  const { ask } = probed({ token, isOpenHere: true })
  for (const headers of [{}, { authorization: 'Bearer another-one-here' }]) {
    const { statusCode, body } = await ask(headers)
    expect(statusCode).toBe(503)
    expect(JSON.parse(body).parts.database).toEqual({ state: 'down' })
    expect(body).not.toContain('detail')
  }
  const told = await ask({ authorization: `Bearer ${token}` }, '203.0.113.7')
  expect(told.statusCode).toBe(503)
  expect(told.json().parts.database).toEqual({ state: 'down', detail: fault })
})

test('a sandbox without a token tells its own machine, and no proxy on it', async () => {
  const { ask } = probed({ token: undefined, isOpenHere: true })
  expect((await ask()).body).toContain(fault)
  for (const stranger of [ask({}, '203.0.113.7'), ask({ 'x-forwarded-for': '203.0.113.7' })])
    expect((await stranger).body).not.toContain('detail')
})

/** A store that answers any payment and any sign-in with the status in the path. */
function storeOf() {
  const { app, pass } = testApp()
  app.post('/answers/:status', (request, reply) => {
    const status = Number((request.params as { status: string }).status)
    if (status === 401) throw new Refusal('sign_in_invalid', 'It is not accepted.')
    return reply.status(status).send({})
  })
  const send = (status: number, headers: Record<string, string>, remoteAddress = '192.0.2.1') =>
    app.inject({ method: 'POST', url: `/answers/${status}`, headers, remoteAddress })
  return { send, pass }
}

const payment = { 'payment-signature': 'e30=' }
const signIn = { 'sign-in-with-x': 'e30=' }

test('a client with 20 refused payments or sign-ins in a minute has to wait', async () => {
  const { send, pass } = storeOf()
  pass(0)
  for (let at = 0; at < 10; at += 1) {
    expect((await send(402, payment)).statusCode).toBe(402)
    expect((await send(401, signIn)).statusCode).toBe(401)
  }
  for (const headers of [payment, signIn]) {
    const refused = await send(402, headers)
    expect(refused.statusCode).toBe(429)
    expect(refused.json()).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 60 })
    expect(refused.headers['retry-after']).toBe('60')
    expect(refused.headers['ratelimit-policy']).toBe('"refused";q=20;w=60')
    expect(refused.headers['access-control-allow-origin']).toBe('*')
  }
  expect((await send(402, {})).statusCode).toBe(402)
  expect((await send(402, { 'payment-signature': '' })).statusCode).toBe(402)
  expect((await send(402, payment, '192.0.2.2')).statusCode).toBe(402)
  pass(60_001)
  expect((await send(402, payment)).statusCode).toBe(402)
})

test('payments that are accepted, or refused for another reason, do not count', async () => {
  const { send } = storeOf()
  for (const status of [200, 202, 409, 422, 503]) {
    for (let at = 0; at < 25; at += 1) await send(status, { ...payment, ...signIn })
  }
  for (let at = 0; at < 25; at += 1) await send(402, {})
  expect((await send(402, payment)).statusCode).toBe(402)
})

test('a webhook that is nobody’s is turned away before its body is looked at', async () => {
  const { app } = testApp()
  const order = newOrderId()
  const reference = supplierReferenceOf(order)
  const hastened: string[] = []
  routeSupplierWebhook(app, {
    orders: { hasten: async (order) => void hastened.push(order) },
    notifier: { notify: () => {}, wait: async () => {} },
    suppliers: [
      { webhook: { isGenuine: ({ secret }) => secret === 'ours', referenceIn: () => 'none' } },
      {
        webhook: {
          isGenuine: ({ secret }) => secret === 'of another',
          referenceIn: () => reference,
        },
      },
    ],
  })
  const send = (secret: string, payload: string) =>
    app.inject({
      method: 'POST',
      url: '/webhooks/supplier',
      headers: { secret, 'content-type': 'application/json' },
      payload,
    })
  const large = JSON.stringify({ text: 'x'.repeat(200 * 1_024) })
  // Each supplier has its own header and its own format of the body.
  expect([(await send('of another', '{}')).statusCode, hastened]).toEqual([204, [order]])
  hastened.length = 0
  expect((await send('ours', large)).statusCode).toBe(204)
  expect((await send('ours', '{')).statusCode).toBe(400)
  expect((await send('ours', `${large}${' '.repeat(60 * 1_024)}`)).statusCode).toBe(413)
  for (const body of ['{', large]) expect((await send('theirs', body)).statusCode).toBe(401)
  expect(hastened).toEqual([])
})
