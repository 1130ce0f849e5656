import { x402Client as OlderClient, wrapAxiosWithPayment } from '@x402/axios'
import { x402Client as Client } from '@x402/core/client'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment } from '@x402/fetch'
import axios from 'axios'
import { evm, Mppx } from 'mppx/client'
import type { LocalAccount } from 'viem'
import { describe, expect, test } from 'vitest'
import { newBuyer } from '../buyer.ts'
import {
  type Answer,
  answerOf,
  bodyFor,
  get,
  type Kind,
  post,
  purchasePath,
  supplierSays,
  until,
} from '../requests.ts'
import { useStore } from '../store.ts'

/** How a client is called: it pays by itself when it is asked to. */
type Post = (
  url: string,
  body: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Omit<Answer, 'text'>>

/** A published client of somebody else, made for one wallet, set up as its documentation says. */
type StockClient = (account: LocalAccount) => Post

const json = { 'content-type': 'application/json' }

const x402Fetch: StockClient = (account) => {
  const client = new Client().register('eip155:*', new ExactEvmScheme(account))
  return postWith(wrapFetchWithPayment(fetch, client))
}

/** Brings an x402 core of its own, sixteen releases older than ours. */
const x402Axios: StockClient = (account) => {
  const client = new OlderClient().register('eip155:*', new ExactEvmScheme(account))
  const instance = wrapAxiosWithPayment(axios.create(), client)
  return async (url, body, headers = {}) => {
    const response = await instance
      .post(url, body, { headers: { ...json, ...headers } })
      .catch((error: unknown) => {
        if (axios.isAxiosError(error) && error.response) return error.response
        throw error
      })
    const { status, data } = response
    return { status, headers: new Headers(response.headers as Record<string, string>), body: data }
  }
}

/** The client of another protocol (MPP), which pays an x402 demand where it meets no other. */
const mppx: StockClient = (account) => {
  const method = evm.charge({ account, networks: [84_532], maxAmount: '1', decimals: 6 })
  return postWith(Mppx.create({ methods: [method], polyfill: false }).fetch)
}

function postWith(send: (url: string, init: RequestInit) => Promise<Response>): Post {
  return async (url, body, headers = {}) => {
    const init = { method: 'POST', headers: { ...json, ...headers }, body: JSON.stringify(body) }
    return answerOf(await send(url, init))
  }
}

/** None of them knows this store; all of them have to be able to buy here. */
const clients = {
  '@x402/fetch 2.27.0': x402Fetch,
  '@x402/axios 2.11.0': x402Axios,
  'mppx 0.11.0': mppx,
}

// All come from this address, and a store limits what an address may ask.
const store = useStore({})
const urlOf = (kind: Kind) => `${store.url}${purchasePath(kind)}`

describe.each(Object.entries(clients))('%s', (_, clientFor) => {
  test.each<Kind>(['voucher', 'topup', 'esim'])(
    'buys a %s with one call and reads the receipt',
    async (kind) => {
      const buyer = await newBuyer()
      const before = await buyer.balance()
      const answer = await clientFor(buyer.account)(urlOf(kind), bodyFor(kind, 'OK'))
      expect(answer.status).toBe(200)
      expect(answer.body.orders).toMatchObject([{ state: 'FULFILLED', kind }])
      const receipt = Buffer.from(answer.headers.get('payment-response') ?? '', 'base64')
      expect(JSON.parse(receipt.toString())).toMatchObject({
        success: true,
        transaction: answer.body.transactionHash,
        payer: buyer.address,
      })
      expect(await buyer.balance()).toBe(before - 500_000n)
    },
  )

  test('pays once when goods are late, and once when the call is repeated with its key', async () => {
    const buyer = await newBuyer()
    const before = await buyer.balance()
    const post = clientFor(buyer.account)
    const headers = { 'idempotency-key': `late-${buyer.address}`, prefer: 'wait=0' }
    const body = bodyFor('voucher', 'HANG')
    const answer = await post(urlOf('voucher'), body, headers)
    expect(answer.status).toBe(202)
    const { orderId } = answer.body
    await supplierSays(store, orderId, 'DONE')
    await until(store, orderId, ({ orders }) => orders[0].state === 'FULFILLED')
    // A client that lost the answer signs anew; the key leads it to the order that is there.
    const again = await post(urlOf('voucher'), body, headers)
    expect(again.status).toBe(200)
    expect(again.headers.get('idempotent-replayed')).toBe('true')
    expect(again.body.orders).toMatchObject([{ orderId, result: { code: expect.any(String) } }])
    expect(await buyer.balance()).toBe(before - 650_000n)
  })
})

test('the spend limit of the stock client refuses more than a dollar until it is raised, as the 402 says', async () => {
  const buyer = await newBuyer()
  const before = await buyer.balance()
  const { body } = await get(store.url, '/ai/esims?limit=50')
  const { offerId, price } = body.items.find(
    (item: { price: { fixed: number } }) => item.price.fixed > 100 && item.price.fixed < 10_000,
  )
  const { body: asked } = await post(store.url, purchasePath('esim'), { offerId })
  expect(asked.message).toMatch(/refuse payments over 1 USD until their own spend limit is raised/)
  const client = new Client().register('eip155:*', new ExactEvmScheme(buyer.account))
  const buy = () => postWith(wrapFetchWithPayment(fetch, client))(urlOf('esim'), { offerId })
  await expect(buy()).rejects.toThrow(/maxAmountPerPayment/)
  expect(await buyer.balance()).toBe(before)
  client.setSpendControls({ maxAmountPerPayment: '$100' })
  expect((await buy()).status).toBe(200)
  expect(await buyer.balance()).toBe(before - BigInt(price.fixed) * 10_000n)
})
