import { x402Client as OlderClient, wrapAxiosWithPayment } from '@x402/axios'
import { x402Client as Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import axios from 'axios'
import type { LocalAccount } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { rowsKept, settled } from '../facts.ts'
import { openClient } from '../mcp/client.ts'
import { answerOf, bodyFor, fromAnywhere, get, post, purchasePath } from '../requests.ts'
import { useStore } from '../store.ts'

const store = useStore()
let buyer: Buyer

beforeAll(async () => {
  buyer = await newBuyer()
})

const recipient = { firstName: 'Augusta', lastName: 'Lovelace' }
const card = { ...bodyFor('voucher', 'OK'), ...recipient }

/** The payable address of a quote. */
async function quoted(fields: Record<string, unknown> = card): Promise<string> {
  const query = new URLSearchParams(fields as Record<string, string>)
  const { body } = await get(store.url, `${purchasePath('voucher')}?${query}`)
  expect(body.payableUrl).toMatch(new RegExp(`^${store.url}/x402/[\\w-]{100,600}$`))
  return body.payableUrl
}

type Pay = (url: string) => Promise<{ readonly status: number; readonly body: unknown }>

const fetching =
  (method: 'GET' | 'POST') =>
  (account: LocalAccount): Pay =>
  async (url) => {
    const client = new Client().register('eip155:*', new ExactEvmScheme(account))
    const init = { method, headers: fromAnywhere() }
    return answerOf(await wrapFetchWithPayment(fetch, client)(url, init))
  }

/** Stock clients, which know nothing but the address. */
const payers: Readonly<Record<string, (account: LocalAccount) => Pay>> = {
  '@x402/fetch by GET': fetching('GET'),
  '@x402/fetch by POST without a body': fetching('POST'),
  '@x402/axios by GET': (account) => async (url) => {
    const client = new OlderClient().register('eip155:*', new ExactEvmScheme(account))
    const instance = wrapAxiosWithPayment(axios.create(), client)
    const { status, data } = await instance.get(url, { headers: fromAnywhere() })
    return { status, body: data }
  },
}

describe.each(Object.entries(payers))('%s', (_, payerFor) => {
  test('pays the address of a quote and gets the goods', async () => {
    const own = await newBuyer()
    const before = await own.balance()
    const { status, body } = await payerFor(own.account)(await quoted())
    expect(status).toBe(200)
    const goods = { state: 'FULFILLED', result: { code: expect.stringMatching(/^SBX-/) } }
    expect(body).toMatchObject({ orders: [goods], accessToken: expect.any(String) })
    expect(await own.balance()).toBe(before - 500_000n)
  })
})

test('its 402 says what is sold and nothing of the fields, and nothing is kept before a payment', async () => {
  await settled(store)
  const before = await rowsKept(store)
  const url = await quoted()
  for (const { status, headers, body, text } of [await get('', url), await post('', url, '')]) {
    expect(status).toBe(402)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    expect(body).toMatchObject({ resource: { url }, accepts: [{ amount: '500000' }] })
    expect(body.resource.description).toContain('Sandbox Test')
    expect(body.extensions).not.toHaveProperty('bazaar')
    const demand = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
    for (const shown of [text, demand]) expect(shown).not.toMatch(/Augusta|Lovelace|TEST-VOUCHER/)
  }
  expect(await rowsKept(store)).toEqual(before)
  const [, sealed = ''] = url.split('/x402/')
  expect(store.logLines.join('')).not.toContain(sealed.slice(0, 40))
})

test('POST of a purchase with Prefer: payable-url names one too, also over MCP', async () => {
  const asked = await post(store.url, purchasePath('voucher'), card, { prefer: 'payable-url' })
  expect((await get('', asked.body.payableUrl)).status).toBe(402)
  expect((await post(store.url, purchasePath('voucher'), card)).body).not.toHaveProperty(
    'payableUrl',
  )
  await using opened = await openClient(store, '2026-07-28')
  const { data } = await opened.call('quote', card)
  expect((await get('', data.payableUrl)).status).toBe(402)
})

test('one that was changed, cut off or given fields is refused before any money', async () => {
  const url = await quoted()
  const last = url.at(-1) === 'A' ? 'B' : 'A'
  const middle = url.at(-60) === 'A' ? 'B' : 'A'
  const changed = [
    url.slice(0, -1) + last,
    `${url.slice(0, -60)}${middle}${url.slice(-59)}`,
    url.slice(0, -4),
    `${url}x`,
    `${store.url}/x402/hello`,
  ]
  for (const other of changed) {
    const { status, body } = await get('', other)
    expect([status, body.code, body.charged]).toEqual([404, 'not_found', 'no'])
  }
  const more = [await get('', `${url}?value=5`), await post('', url, { offerId: 'X' })]
  for (const { status, body } of more) {
    expect([status, body.code, body.charged]).toEqual([400, 'unknown_parameter', 'no'])
  }
  expect((await fetch(url, { method: 'HEAD', headers: fromAnywhere() })).status).toBe(405)
})

test('two wallets that pay it at once: one gets the goods, the other is not charged', async () => {
  const url = await quoted()
  const wallets = await Promise.all([newBuyer(), newBuyer()])
  const before = await Promise.all(wallets.map((wallet) => wallet.balance()))
  const { body: asked } = await get('', url)
  const answers = await Promise.all(
    wallets.map(async (wallet) => {
      const { header } = await wallet.sign(asked.accepts[0])
      return get('', url, { 'payment-signature': header })
    }),
  )
  const [won, lost] = answers.toSorted((one, other) => one.status - other.status)
  expect(won?.status).toBe(200)
  const { orderId } = won?.body ?? {}
  expect([lost?.status, lost?.body]).toMatchObject([
    409,
    { code: 'quote_used', charged: 'no', orderId },
  ])
  const after = await Promise.all(wallets.map((wallet) => wallet.balance()))
  expect(before.map((amount, at) => amount - (after[at] ?? 0n)).toSorted()).toEqual([0n, 500_000n])
  const unpaid = await get('', url)
  expect([unpaid.status, unpaid.body]).toMatchObject([409, { code: 'quote_used', orderId }])
})

test('a client that lost the answer is never charged twice, and its key shows the goods', async () => {
  const url = await quoted()
  const before = await buyer.balance()
  const key = { 'idempotency-key': `lost-${buyer.address}` }
  const client = new Client().register('eip155:*', new ExactEvmScheme(buyer.account))
  const send = (headers: Record<string, string> = {}) =>
    wrapFetchWithPayment(fetch, client)(url, { headers: { ...fromAnywhere(), ...headers } })
  const first = await answerOf(await send(key))
  expect(first.status).toBe(200)
  expect((await answerOf(await send())).body).toMatchObject({ code: 'quote_used', charged: 'no' })
  const { header } = await buyer.sign((await get('', await quoted())).body.accepts[0])
  const again = await get('', url, { ...key, 'payment-signature': header })
  expect(again.body).toMatchObject({ orders: [{ orderId: first.body.orderId }] })
  expect(again.body.orders[0].result.code).toBe(first.body.orders[0].result.code)
  expect(await buyer.balance()).toBe(before - 500_000n)
})
