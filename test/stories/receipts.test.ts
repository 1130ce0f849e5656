import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { compactVerify, createRemoteJWKSet } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { plainEnvironment } from '../../sandbox/process.ts'
import { ReceiptAnswer, ReceiptClaims } from '../../src/orders/delivery-receipt.ts'
import { type Buyer, newBuyer } from './buyer.ts'
import { bodyFor, buyDelivered, get, type Kind } from './requests.ts'
import { useStore } from './store.ts'

const run = promisify(execFile)

const store = useStore()
let buyer: Buyer
let folder: string

beforeAll(async () => {
  buyer = await newBuyer()
  folder = await mkdtemp(join(tmpdir(), 'kiosk402-receipts-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

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
  const args = ['--input-type=module', '--eval', script, 'check.mjs', file]
  return run(process.execPath, args, { env: plainEnvironment() }).then(
    ({ stdout }) => ({ code: 0, out: stdout, err: '' }),
    ({ code, stdout, stderr }) => ({ code, out: String(stdout), err: String(stderr) }),
  )
}

describe.each(['voucher', 'topup', 'esim'] as const)('the receipt of a %s', (kind) => {
  test('says what was paid and delivered, and is signed', async () => {
    const { order, receipt } = await bought(kind)
    const { qrPng: _, qrSvg: __, ...goods } = order.orders[0].result
    expect(receipt.delivered?.result).toEqual(goods)
    expect(order.receipt_url).toBe(`${store.url}/api/catalog/orders/${order.orderId}/receipt`)
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
