import { afterAll, beforeAll, expect, test } from 'vitest'
import { openDatabase } from '../../src/adapters/storage/database.ts'
import type { Effect } from '../../src/catalog/selling-rules.ts'
import type { Operator } from '../../src/operator/operator.ts'
import { endSellingRules, placeRules } from '../../src/operator/selling.ts'
import type { WantedRule } from '../../src/operator/written-rules.ts'
import { newBuyer } from './buyer.ts'
import {
  bodyFor,
  buy,
  eventually,
  get,
  post,
  purchasePath,
  supplierSays,
  termsOf,
  until,
} from './requests.ts'
import { openSibling, useStore } from './store.ts'

// The operator pauses, prices and hides with rules, which all nodes follow without a restart.

const store = useStore({ env: { PURCHASE_WAIT_SECONDS: '1' } })
let sibling: Awaited<ReturnType<typeof openSibling>>

beforeAll(async () => {
  sibling = await openSibling(store)
})
afterAll(() => sibling.close())

const nodes = () => [store.url, sibling.url]

/** `kiosk402 sales`, `price` and `catalog`, as the operator runs them. */
async function asOperator<T>(work: (operator: Operator) => Promise<T>): Promise<T> {
  const options = { applicationName: 'story', poolSize: 1, onError: () => undefined }
  const database = openDatabase(store.databaseUrl, options)
  const config = { markupBps: 0, ratesUrl: 'http://127.0.0.1:9' } as Operator['config']
  return work({ config, database, by: 'anna', now: () => new Date() }).finally(() => database.end())
}

const reason = 'A story'

function place(scope: string, effect: WantedRule) {
  return asOperator((operator) =>
    placeRules(operator, [{ scope, ...effect }], { act: 'story', reason }),
  )
}

function end(scope: string, effect: Effect['type']) {
  const ending = { effects: [effect], act: 'story', reason }
  return asOperator((operator) => endSellingRules(operator, [scope], ending))
}

const body = bodyFor('voucher', 'OK')
const offerId = String(body['offerId'])
const record = `/api/catalog/vouchers/offers/${offerId}`

/** What a node says of the offer in its record, in both searches, to a quote and on its page. */
async function saidOf(url: string) {
  const [{ body: own }, { body: listed }, { body: found }, quote, page] = await Promise.all([
    get(url, record),
    get(url, `/api/catalog/vouchers/offers?limit=100&brand=${encodeURIComponent(brandName)}`),
    get(url, `/ai/vouchers?limit=50&brand=${encodeURIComponent(brandName)}`),
    get(url, `${purchasePath('voucher')}?offerId=${offerId}&firstName=Ada&lastName=Lovelace`),
    get(url, `/buy/${offerId}`),
  ])
  const isIt = (one: { readonly offerId: string }) => one.offerId === offerId
  return {
    record: own.available ?? own.code,
    listed: listed.items.find(isIt)?.available,
    isFound: found.items.some(isIt),
    quote: quote.body.code ?? quote.body.accepts?.[0]?.amount,
    hasForm: page.text.includes('<form class="buy"'),
  }
}

let brandName = ''
let brand = ''

beforeAll(async () => {
  const { body: own } = await get(store.url, record)
  brand = own.brand
  brandName = own.brandName ?? own.brand
})

test('a paused brand is unavailable in record, searches, quote and page alike, on all nodes within 5 s', async () => {
  const before = await saidOf(store.url)
  expect(before).toMatchObject({ record: true, listed: true, isFound: true, hasForm: true })
  const since = performance.now()
  await place(`brand:${brand}`, { effect: 'pause' })
  const paused = {
    ...{ record: false, listed: false, isFound: false, hasForm: false },
    quote: 'offer_unavailable',
  }
  for (const url of nodes()) {
    const said = await eventually(
      () => saidOf(url),
      ({ isFound }) => !isFound,
    )
    expect(said, url).toEqual(paused)
  }
  expect(performance.now() - since).toBeLessThan(5_000)
  await end(`brand:${brand}`, 'pause')
  for (const url of nodes())
    expect(
      await eventually(
        () => saidOf(url),
        ({ isFound }) => isFound,
      ),
    ).toEqual(before)
})

test('a hidden offer is not found anywhere', async () => {
  await place(`offer:${offerId}`, { effect: 'hide' })
  const said = await eventually(
    () => saidOf(store.url),
    ({ isFound }) => !isFound,
  )
  expect(said).toEqual({
    ...{ record: 'offer_not_found', listed: undefined, isFound: false, hasForm: false },
    quote: 'offer_not_found',
  })
  await end(`offer:${offerId}`, 'hide')
  await eventually(
    () => saidOf(store.url),
    ({ isFound }) => isFound,
  )
})

test('a margin is asked for on all nodes, and a price that was promised is kept', async () => {
  const buyer = await newBuyer()
  const promised = await termsOf(store.url, 'voucher', body)
  const payment = await buyer.sign(promised)
  await place(`offer:${offerId}`, {
    ...{ effect: 'margin', margin_bps: '1000', fixed_usd: '0.25' },
  })
  const dearer = (BigInt(promised.amount) * 110n) / 100n + 250_000n
  for (const url of nodes()) {
    const { amount } = await eventually(
      () => termsOf(url, 'voucher', body),
      (terms) => terms.amount !== promised.amount,
    )
    expect(BigInt(amount)).toBe(dearer)
  }
  const headers = { 'payment-signature': payment.header }
  const bought = await post(store.url, purchasePath('voucher'), body, headers)
  expect([200, 202]).toContain(bought.status)
  await end(`offer:${offerId}`, 'margin')
  await eventually(
    () => termsOf(store.url, 'voucher', body),
    ({ amount }) => amount === promised.amount,
  )
})

test('while everything is paused the store says stop and why, and delivers and refunds what was paid', async () => {
  const buyer = await newBuyer()
  const [goods, failing] = [
    await buy(store, buyer, 'topup', bodyFor('topup', 'HANG')),
    await buy(store, buyer, 'voucher', bodyFor('voucher', 'HANG')),
  ]
  const unpaid = await termsOf(store.url, 'voucher', body)
  await place('everything', { effect: 'pause' })
  const manifest = () => get(store.url, '/.well-known/x402')
  const { body: told } = await eventually(
    manifest,
    (seen) => seen.body.signals.reason !== undefined,
  )
  expect(told.signals).toMatchObject({ agent_action: 'stop', reason: 'Sales are paused.' })
  const ready = await get(store.url, '/readyz')
  expect(ready).toMatchObject({ status: 503, body: { parts: { sales: { state: 'down' } } } })
  expect((await saidOf(store.url)).hasForm).toBe(false)
  const { header } = await buyer.sign(unpaid)
  const refused = await post(store.url, purchasePath('voucher'), body, {
    'payment-signature': header,
  })
  expect(refused).toMatchObject({ status: 503, body: { code: 'store_paused', charged: 'no' } })

  await supplierSays(store, goods.answer.body.orderId, 'DONE')
  await supplierSays(store, failing.answer.body.orderId, 'FAILED')
  await until(store, goods.answer.body.orderId, ({ orders: [one] }) => one.state === 'FULFILLED')
  await until(store, failing.answer.body.orderId, ({ refund_state }) => refund_state === 'REFUNDED')
  await end('everything', 'pause')
  await eventually(manifest, (seen) => seen.body.signals.agent_action === 'pay')
})
