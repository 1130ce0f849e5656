import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, type OpenPage, openPage } from '../../harness/browser.ts'
import { newBuyer } from '../buyer.ts'
import { bodyFor, purchasePath } from '../requests.ts'
import { openStore, type Store } from '../store.ts'
import type { Call, Seen } from './page/buyer.ts'

let store: Store
let opened: OpenPage

const packages = [
  '@x402/core/client',
  '@x402/evm/exact/client',
  '@x402/fetch',
  'mppx/client',
  'viem/accounts',
  'viem/siwe',
]

describe.skipIf(noBrowser)('a page of another origin', () => {
  beforeAll(async () => {
    ;[store, opened] = await Promise.all([
      openStore({ offers: 50 }),
      openPage(join(import.meta.dirname, 'page'), packages),
    ])
  })
  afterAll(async () => {
    await Promise.all([store.close(), opened.close()])
  })

  /** Runs the page's program and gives what it could read. */
  const call = (wanted: Partial<Call> & Pick<Call, 'client' | 'privateKey' | 'url'>) =>
    opened.page.evaluate(
      // The page's own server answers this import; here it is only text.
      `import('/buyer.ts').then(({ call }) => call(${JSON.stringify({ method: 'GET', headers: {}, ...wanted })}))`,
    ) as Promise<Seen>

  const newWallet = async () => {
    const privateKey = generatePrivateKey()
    const buyer = await newBuyer(undefined, undefined, privateKeyToAccount(privateKey))
    return { privateKey, buyer }
  }

  const purchase = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: bodyFor('voucher', 'OK'),
  } as const
  const url = () => `${store.url}${purchasePath('voucher')}`

  test('stands on another origin than the store', () => {
    expect(opened.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(opened.origin).not.toBe(new URL(store.url).origin)
  })

  test.each(['x402', 'mppx'] as const)(
    'buys with the %s client, and its program reads demand and receipt',
    async (client) => {
      const { privateKey, buyer } = await newWallet()
      const before = await buyer.balance()
      const key = `page-${buyer.address}`
      const headers = { ...purchase.headers, 'idempotency-key': key }
      const demand = await call({ ...purchase, client: 'plain', headers, privateKey, url: url() })
      expect(demand.status).toBe(402)
      expect(json(demand.headers['payment-required'])).toMatchObject({ x402Version: 2 })

      const bought = await call({ ...purchase, client, headers, privateKey, url: url() })
      expect(bought.status).toBe(200)
      expect(bought.body).toMatchObject({ orders: [{ state: 'FULFILLED' }] })
      expect(json(bought.headers['payment-response'])).toMatchObject({
        success: true,
        payer: buyer.address,
      })
      const again = await call({ ...purchase, client, headers, privateKey, url: url() })
      expect(again.headers['idempotent-replayed']).toBe('true')
      expect(await buyer.balance()).toBe(before - 500_000n)
    },
  )

  test('polls a late order by the headers of the answer', async () => {
    const { privateKey } = await newWallet()
    const headers = { ...purchase.headers, prefer: 'wait=0' }
    const body = bodyFor('voucher', 'HANG')
    const answer = await call({
      client: 'x402',
      ...purchase,
      headers,
      body,
      privateKey,
      url: url(),
    })
    expect(answer.status).toBe(202)
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
    const { accessToken } = answer.body as { accessToken: string }
    const order = await call({
      client: 'plain',
      privateKey,
      url: new URL(answer.headers['location'] ?? '', store.url).href,
      headers: { authorization: `Bearer ${accessToken}` },
    })
    expect(order.status).toBe(200)
    expect(order.headers['ratelimit']).toMatch(/r=\d+/)
  })

  test('signs in with its wallet and reads its orders', async () => {
    const { privateKey } = await newWallet()
    const bought = await call({ client: 'x402', ...purchase, privateKey, url: url() })
    const list = await call({
      client: 'sign-in',
      privateKey,
      url: `${store.url}/api/catalog/orders`,
    })
    expect(list).toMatchObject({ status: 200, body: { total: 1 } })
    const { items } = list.body as { items: { orderId: string }[] }
    expect(items[0]?.orderId).toBe((bought.body as { orderId: string }).orderId)
  })

  test('reads why a purchase is refused', async () => {
    const { privateKey } = await newWallet()
    const body = { offerId: 'NO_SUCH_OFFER', firstName: 'Ada', lastName: 'Lovelace' }
    const refused = await call({ client: 'x402', ...purchase, body, privateKey, url: url() })
    expect(refused.status).toBe(404)
    expect(refused.body).toMatchObject({ code: 'offer_not_found', charged: 'no' })
    expect(refused.headers['x-request-id']).toBeTruthy()
  })

  test('is allowed every header that the stock client puts on a request', async () => {
    const { privateKey } = await newWallet()
    const sent: Promise<Record<string, string>>[] = []
    opened.page.on('request', (request) => sent.push(request.allHeaders()))
    await call({
      client: 'x402',
      ...purchase,
      headers: {
        ...purchase.headers,
        'idempotency-key': `seen-${privateKey}`.slice(0, 40),
        prefer: 'wait=5',
      },
      privateKey,
      url: url(),
    })
    const seen = await Promise.all(sent)
    expect(seen.find((headers) => 'payment-signature' in headers)).toMatchObject({
      origin: opened.origin,
      // Stock clients send this answer's header with their request, so preflights ask for it.
      'access-control-expose-headers': expect.stringContaining('PAYMENT-RESPONSE'),
    })
  })
})

function json(header: string | null | undefined): unknown {
  return JSON.parse(Buffer.from(header ?? '', 'base64').toString('utf8'))
}
