import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compactVerify, createRemoteJWKSet } from 'jose'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { plainEnvironment } from '../../sandbox/process.ts'
import { ReceiptAnswer, ReceiptClaims } from '../../src/orders/delivery-receipt.ts'
import { type StoryProxy, startProxy } from '../harness/proxy.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, buy, buyDelivered, get, type Kind, until } from './requests.ts'
import { openStore, type Store } from './store.ts'

let rpc: StoryProxy
let store: Store
let buyer: Buyer
let folder: string

beforeAll(async () => {
  rpc = await startProxy(inject('parts').rpcUrl)
  const env = { PURCHASE_WAIT_SECONDS: '8' }
  store = await openStore({ env, rpcUrl: rpc.url })
  buyer = await newBuyer()
  folder = await mkdtemp(join(tmpdir(), 'kiosk402-receipts-'))
})
afterAll(async () => {
  await store.close()
  await rpc.close()
  await rm(folder, { recursive: true, force: true })
})

const receiptOf = (orderId: string, headers: Record<string, string> = {}) =>
  get(store.url, `/api/catalog/orders/${orderId}/receipt`, headers)

/** Buys a good and fetches its receipt as its buyer. */
async function bought(kind: Kind) {
  const { answer, order } = await buyDelivered(store, buyer, kind)
  const { orderId, accessToken } = answer.body
  const receipt = await receiptOf(orderId, { authorization: `Bearer ${accessToken}` })
  expect(receipt.status).toBe(200)
  expect(receipt.headers.get('cache-control')).toBe('no-store')
  return { order, receipt: ReceiptAnswer.strict().parse(receipt.body) }
}

/** What a plain JOSE library reads, with the keys that the store publishes. */
async function claimsIn(receipt: string): Promise<ReceiptClaims> {
  const keys = createRemoteJWKSet(new URL(`${store.url}/.well-known/jwks.json`))
  const { payload } = await compactVerify(receipt, keys, { algorithms: ['EdDSA'] })
  return ReceiptClaims.strict().parse(JSON.parse(Buffer.from(payload).toString()))
}

/** Checks a receipt by the script in docs/agents/receipts.md, in a process of its own, as its reader does. */
async function verify(content: unknown) {
  const [, script = ''] =
    /```js\n([\s\S]*?)```/.exec(await readFile('docs/agents/receipts.md', 'utf8')) ?? []
  const file = join(folder, `${crypto.randomUUID()}.json`)
  await writeFile(file, JSON.stringify(content))
  const child = spawn(
    process.execPath,
    ['--input-type=module', '--eval', script, 'check.mjs', file],
    { env: plainEnvironment(), stdio: ['ignore', 'pipe', 'pipe'] },
  )
  const said = { out: '', err: '' }
  child.stdout.on('data', (chunk: Buffer) => {
    said.out += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    said.err += chunk
  })
  const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { code, ...said }
}

describe.each(['voucher', 'topup', 'esim'] as const)('the receipt of a %s', (kind) => {
  test('says what was paid and delivered, and is signed', async () => {
    const { order, receipt } = await bought(kind)
    const { qrPng: _, qrSvg: __, ...goods } = order.orders[0].result
    expect(receipt.delivered?.result).toEqual(goods)
    expect(order.receipt_url).toBe(`/api/catalog/orders/${order.orderId}/receipt`)
    expect(await claimsIn(receipt.receipt)).toMatchObject({
      iss: store.url,
      sub: order.orderId,
      paymentId: order.paymentId,
      kind,
      offerId: bodyFor(kind, 'OK')['offerId'],
      state: 'FULFILLED',
      payment: {
        network: 'eip155:84532',
        asset: store.parts.usdc,
        payer: buyer.address,
        payTo: store.payTo,
        amount_atomic: '500000',
        transaction: order.transactionHash,
      },
      delivery: { sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
    })
  })
})

test('a receipt shows its goods to nobody else, and can be shown without them', async () => {
  const { order, receipt } = await bought('voucher')
  const { code } = order.orders[0].result
  const open = (await receiptOf(order.orderId)).body
  expect(open).not.toHaveProperty('delivered')
  expect(Buffer.from(open.receipt.split('.')[1], 'base64url').toString()).not.toContain(code)
  const both = await Promise.all([claimsIn(open.receipt), claimsIn(receipt.receipt)])
  expect(both[0].delivery).toEqual(both[1].delivery)
})

test('the script in the documents proves a receipt and its goods, and no others', async () => {
  const [one, two] = [(await bought('esim')).receipt, (await bought('esim')).receipt]
  const proven = await verify(one)
  expect(proven).toMatchObject({ code: 0, err: '' })
  expect(proven.out).toContain('The goods are those that were delivered')
  expect(await verify({ receipt: one.receipt })).toMatchObject({ code: 0 })
  const swapped = await verify({ ...one, delivered: two.delivered })
  expect(swapped.err).toContain('These are not the goods of the receipt')
  const [header, payload = '', signature] = one.receipt.split('.')
  const richer = Buffer.from(payload, 'base64url').toString().replace('"500000"', '"900000"')
  const forged = [header, Buffer.from(richer).toString('base64url'), signature].join('.')
  expect((await verify({ receipt: forged })).err).toContain('signature verification failed')
})

test('an order that was paid back has a receipt that says so', async () => {
  const { answer } = await buy(store, buyer, 'topup', bodyFor('topup', 'FAIL'))
  const { orderId } = answer.body
  await until(store, orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  const { receipt, delivered } = (await receiptOf(orderId)).body
  const claims = await claimsIn(receipt)
  expect(delivered ?? claims.delivery).toBeUndefined()
  expect(claims).toMatchObject({
    state: 'FULFILLMENT_FAILED',
    refund: {
      state: 'REFUNDED',
      amount_atomic: '600000',
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    },
  })
})

test('an order whose payment is not proven has none yet, and then has one', async () => {
  rpc.breakCalls((call) => (call === 'eth_sendRawTransaction' ? 'swallow' : 'none'))
  const { answer } = await buy(store, buyer, 'voucher', bodyFor('voucher', 'OK'))
  expect(answer.body).toMatchObject({ receipt_url: null, orders: [{ state: 'PAYMENT_PENDING' }] })
  expect(answer.headers.get('payment-response')).toBeNull()
  const { orderId } = answer.body
  expect(await receiptOf(orderId)).toMatchObject({
    status: 409,
    body: { code: 'no_receipt', state: 'PAYMENT_PENDING', charged: 'unknown', retryable: false },
  })
  rpc.breakCalls()
  await until(store, orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')
  expect(await receiptOf(orderId)).toMatchObject({ status: 200 })
})

test.each([['ord_00000000000000000000000000'], ['ord_1'], ['%00']])(
  'there is no receipt of %s',
  async (orderId) => {
    expect(await receiptOf(orderId)).toMatchObject({
      status: 404,
      body: { code: 'order_not_found' },
    })
  },
)
