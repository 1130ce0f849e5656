import { join } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { noBrowser, type OpenPage, openPage } from '../../harness/browser.ts'
import { newBuyer } from '../buyer.ts'
import { bodyFor, purchasePath } from '../requests.ts'
import { useStore } from '../store.ts'
import type { Call, Seen } from './page/buyer.ts'

const store = useStore()
let opened: OpenPage

const packages = ['@x402/core/client', '@x402/evm/exact/client', '@x402/fetch', 'viem/accounts']

describe.skipIf(noBrowser)('a page of another origin', () => {
  beforeAll(async () => {
    opened = await openPage(join(import.meta.dirname, 'page'), packages)
  })
  afterAll(() => opened.close())

  /** Runs the page's program and gives what it could read. */
  const call = (wanted: Call) =>
    opened.page.evaluate(
      // The page's own server answers this import; here it is only text.
      `import('/buyer.ts').then(({ call }) => call(${JSON.stringify(wanted)}))`,
    ) as Promise<Seen>

  const purchaseOf = (body: object, headers: Record<string, string> = {}) => ({
    url: `${store.url}${purchasePath('voucher')}`,
    init: {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    },
  })
  const json = (header = '') => JSON.parse(Buffer.from(header, 'base64').toString('utf8'))

  test('buys with the stock client, and its program reads demand and receipt', async () => {
    expect(opened.origin).not.toBe(new URL(store.url).origin)
    const privateKey = generatePrivateKey()
    const buyer = await newBuyer(undefined, undefined, privateKeyToAccount(privateKey))
    const before = await buyer.balance()
    const purchase = purchaseOf(bodyFor('voucher', 'OK'), {
      'idempotency-key': `page-${buyer.address}`,
    })
    const demand = await call(purchase)
    expect(demand.status).toBe(402)
    expect(json(demand.headers['payment-required'])).toMatchObject({ x402Version: 2 })

    const bought = await call({ ...purchase, privateKey })
    expect(bought).toMatchObject({ status: 200, body: { orders: [{ state: 'FULFILLED' }] } })
    const receipt = { success: true, payer: buyer.address }
    expect(json(bought.headers['payment-response'])).toMatchObject(receipt)
    const again = await call({ ...purchase, privateKey })
    expect(again.headers['idempotent-replayed']).toBe('true')
    expect(await buyer.balance()).toBe(before - 500_000n)
  })
})
