import { ExactEvmScheme } from '@x402/evm/exact/client'
import { wrapFetchWithPayment, x402Client } from '@x402/fetch'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newBuyer } from '../buyer.ts'
import { bodyFor, get, type Kind, post, purchasePath, supplierSays, until } from '../requests.ts'
import { openStore, type Store } from '../store.ts'
import { clients } from './clients.ts'

let store: Store

/** One each, because all come from this address, and a store limits what an address may ask. */
function withStore(): void {
  beforeAll(async () => {
    store = await openStore({ offers: 50 })
  })
  afterAll(() => store.close())
}

const urlOf = (kind: Kind) => `${store.url}${purchasePath(kind)}`

const placed = async () => Number((await store.query('select count(*) as n from orders'))[0]?.n)

describe.each(Object.entries(clients))('%s', (_, clientFor) => {
  withStore()

  test.each<Kind>(['voucher', 'topup', 'esim'])(
    'buys a %s with one call and reads the receipt',
    async (kind) => {
      const buyer = await newBuyer()
      const before = await buyer.balance()
      const answer = await clientFor(buyer.account)(urlOf(kind), bodyFor(kind, 'OK'))
      expect(answer.status).toBe(200)
      expect(answer.body.orders).toMatchObject([{ state: 'FULFILLED', kind }])
      expect(receiptOf(answer.headers)).toMatchObject({
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

  test('gets its money back for a topup that the carrier rejects', async () => {
    const buyer = await newBuyer()
    const before = await buyer.balance()
    const answer = await clientFor(buyer.account)(urlOf('topup'), bodyFor('topup', 'FAIL'))
    expect(answer.status).toBe(202)
    await until(store, answer.body.orderId, ({ refund_state }) => refund_state === 'REFUNDED')
    expect(await buyer.balance()).toBe(before)
  })

  test('is told what is wrong with its body before it signs anything', async () => {
    const buyer = await newBuyer(0n)
    const answer = await clientFor(buyer.account)(urlOf('topup'), {
      ...bodyFor('topup', 'OK'),
      msisdn: 'nobody',
    })
    expect(answer.status).toBe(422)
    expect(answer.body).toMatchObject({ parameter: 'msisdn', charged: 'no' })
  })

  test('with an empty wallet is told so, and no order is placed', async () => {
    const buyer = await newBuyer(0n)
    const before = await placed()
    const answer = await clientFor(buyer.account)(urlOf('voucher'), bodyFor('voucher', 'OK'))
    expect(answer.status).toBe(402)
    expect(answer.body).toMatchObject({ code: 'insufficient_balance', charged: 'no' })
    expect(await placed()).toBe(before)
  })
})

describe('the spend limit of the stock client', () => {
  withStore()

  test('refuses more than a dollar until it is raised, as the 402 says', async () => {
    const buyer = await newBuyer()
    const before = await buyer.balance()
    const { offerId, price } = await esimOverADollar()
    const { body: asked } = await post(store.url, purchasePath('esim'), { offerId })
    expect(asked.message).toMatch(
      /refuse payments over 1 USD until their own spend limit is raised/,
    )
    const client = new x402Client().register('eip155:*', new ExactEvmScheme(buyer.account))
    const buy = () =>
      wrapFetchWithPayment(fetch, client)(urlOf('esim'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ offerId }),
      })
    await expect(buy()).rejects.toThrow(/maxAmountPerPayment/)
    expect(await buyer.balance()).toBe(before)
    client.setSpendControls({ maxAmountPerPayment: '$100' })
    expect((await buy()).status).toBe(200)
    expect(await buyer.balance()).toBe(before - BigInt(price) * 10_000n)
  })
})

async function esimOverADollar(): Promise<{ offerId: string; price: number }> {
  const { body } = await get(store.url, '/ai/esims?limit=50')
  for (const { offerId, price } of body.items) {
    if (price.fixed > 100 && price.fixed < 10_000) return { offerId, price: price.fixed }
  }
  throw new Error('No eSIM costs more than a dollar')
}

function receiptOf(headers: Headers): unknown {
  const header = headers.get('payment-response') ?? ''
  return JSON.parse(Buffer.from(header, 'base64').toString('utf8'))
}
