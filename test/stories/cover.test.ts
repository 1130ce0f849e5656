import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { expect, test } from 'vitest'
import { startNodeBefore } from '../../src/adapters/chain/chain.fixture.ts'
import { newBuyer } from './buyer.ts'
import { emptyWallet, mintUsdc } from './chain.ts'
import { rowsKept } from './facts.ts'
import { bodyFor, buy, eventually, get, post, purchasePath, termsOf, until } from './requests.ts'
import { openStore, useStore } from './store.ts'

// The store sells nothing that its refund wallet could not pay back.

const metricsToken = 'story-metrics-token'
const store = useStore({
  lookEveryMs: 500,
  refundFloat: 3_250_000n,
  env: { PURCHASE_WAIT_SECONDS: '1', METRICS_TOKEN: metricsToken },
})

const price = (body: object) => post(store.url, purchasePath('voucher'), body)
const quote = (fields: Record<string, unknown>) => {
  const query = new URLSearchParams(fields as Record<string, string>)
  return get(store.url, `${purchasePath('voucher')}?${query}`)
}
const open = (value: number) => ({ ...bodyFor('voucher', 'OPEN'), value })
const signals = async () => (await get(store.url, '/api/catalog')).body.signals
const ready = () => get(store.url, '/readyz', { authorization: `Bearer ${metricsToken}` })

test('what the refund wallet cannot pay back is not sold, and the rest is', async () => {
  const buyer = await newBuyer()
  const large = bodyFor('voucher', 'OK')
  const payment = await buyer.sign(await termsOf(store.url, 'voucher', large))
  const { answer: hanging } = await buy(store, buyer, 'topup', bodyFor('topup', 'HANG'))
  const { answer: alike } = await buy(store, await newBuyer(), 'topup', bodyFor('topup', 'HANG'))
  for (const { body } of [hanging, alike])
    expect(body.orders).toMatchObject([{ state: 'FULFILLING' }])

  // 1.30 of 3.25 may have to go back, and a purchase may take a quarter of the rest.
  const refused = await eventually(
    () => price(large),
    ({ status }) => status === 409,
  )
  expect(refused.body).toMatchObject({
    code: 'offer_unavailable',
    charged: 'no',
    retryable: true,
    reason: 'too_large',
    most: { usdc: '0.4875', atomic: '487500' },
    asked: { usdc: '0.50', atomic: '500000' },
  })
  expect(await quote(large)).toMatchObject({ status: 409, body: { reason: 'too_large' } })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  expect((await price(open(0.1))).status).toBe(402)
  expect([(await signals()).agent_action, (await ready()).status]).toEqual(['pay', 200])
  // More than half would be at risk with this, and the wallet whose order hangs has more than a little.
  const { answer: tooMuch } = await buy(store, buyer, 'voucher', open(0.4))
  expect(tooMuch).toMatchObject({
    status: 429,
    body: { code: 'budget_spent', budget: 'exposure', whose: 'payer', charged: 'no' },
  })
  const { answer: small } = await buy(store, await newBuyer(), 'voucher', open(0.1))
  expect([200, 202]).toContain(small.status)
  await until(store, small.body.orderId, ({ orders: [{ state }] }) => state === 'FULFILLED')

  // Now the wallet holds less than what may have to go back: nothing is sold at all.
  const elsewhere = privateKeyToAddress(generatePrivateKey())
  await emptyWallet(store.parts, store.settings.refundKey, elsewhere)
  expect(await eventually(signals, ({ agent_action }) => agent_action === 'stop')).toMatchObject({
    provider_health: 'down',
  })
  expect(await ready()).toMatchObject({
    status: 503,
    body: {
      status: 'not_ready',
      parts: {
        refunds: {
          state: 'down',
          detail:
            'The refund wallet holds 0.00 USDC, and open refunds may need 1.30. One purchase may take a quarter of the rest. Top up the wallet.',
        },
        chain: { state: 'healthy' },
        database: { state: 'healthy' },
      },
    },
  })
  const [rows, balance] = [await rowsKept(store), await buyer.balance()]
  for (const headers of [{}, { 'payment-signature': payment.header }]) {
    for (const body of [large, open(0.1)]) {
      const answer = await post(store.url, purchasePath('voucher'), body, headers)
      expect(answer).toMatchObject({ status: 503, body: { code: 'store_paused', charged: 'no' } })
    }
  }
  expect([await rowsKept(store), await buyer.balance()]).toEqual([rows, balance])

  await mintUsdc(store.parts, store.refundWallet, 5_000_000n)
  await eventually(signals, ({ agent_action }) => agent_action === 'pay')
  expect((await ready()).status).toBe(200)
  const bought = await post(store.url, purchasePath('voucher'), large, {
    'payment-signature': payment.header,
  })
  expect([200, 202]).toContain(bought.status)
  expect(await buyer.balance()).toBe(balance - 500_000n)
})

test('what no witness could bear out is not sold, and the rest is', async () => {
  const witness = await startNodeBefore(store.parts.rpcUrl)
  const own = await openStore({
    lookEveryMs: 500,
    witnesses: { urls: [witness.url], fromUsdc: 1 },
  })
  const { items } = (await get(own.url, '/api/catalog/vouchers/offers?limit=100')).body
  const names = { firstName: 'Ada', lastName: 'Lovelace' }
  const large = items.find(
    (item: { usdc: { amount?: string }; requiredFields: string[] }) =>
      item.requiredFields.every((name) => name in names) && Number(item.usdc.amount) >= 1_000_000,
  )
  const ask = (body: object) => post(own.url, purchasePath('voucher'), body)
  const askLarge = () => ask({ offerId: large.offerId, ...names })
  expect((await askLarge()).status).toBe(402)
  witness.tamper(() => 'silence')
  const refused = await eventually(askLarge, ({ status }) => status === 409)
  expect(refused.body).toMatchObject({ reason: 'too_large', most: { atomic: '999999' } })
  expect((await ask(open(0.1))).status).toBe(402)
  witness.tamper()
  await eventually(askLarge, ({ status }) => status === 402)
  await own.close()
  await witness.stop()
})
