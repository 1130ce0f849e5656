import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { tokensIn } from '../../harness/tokens.ts'
import { type Buyer, newBuyer } from '../buyer.ts'
import { openStore, type Store } from '../store.ts'
import { type Arguments, type CallTool, openClient, paymentFor, type Result } from './client.ts'

// What people send their agents for. Each errand takes what the answers before it say, and nothing else.

let store: Store
let buyer: Buyer
let close: () => Promise<void>
let call: CallTool
/** Tokens of each answer of all errands. */
const sizes: number[] = []
/** Calls of this errand, until it buys for the first time. */
let callsBefore = 0

beforeAll(async () => {
  store = await openStore({ offers: 12_000 })
  buyer = await newBuyer()
  const opened = await openClient(store, 'SDK 1.x')
  close = opened.close
  await opened.client.listTools()
  call = async (name, args, meta) => {
    const result = await opened.call(name, args, meta)
    callsBefore += 1
    sizes.push(tokensIn(result.texts.join('\n')))
    return result
  }
})
beforeEach(() => {
  callsBefore = 0
})
afterAll(async () => {
  await close()
  await store.close()
})

const person = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' }

interface Item {
  readonly offerId: string
  readonly brandName: string
  readonly country?: string
  readonly usdc: { readonly amount?: string; readonly min?: string }
  readonly faceValue?: { readonly currency: string; readonly fixed?: number }
  readonly requiredFields: readonly string[]
  readonly dataGb?: number
  readonly durationDays?: number
  readonly coverage?: { readonly countries: readonly string[] }
}

async function search(args: Arguments): Promise<readonly Item[]> {
  const { data } = await call('search', args)
  return data.items
}

async function firstOf(args: Arguments): Promise<Item> {
  const [first] = await search(args)
  if (first === undefined) throw new Error(`Nothing is found by ${JSON.stringify(args)}.`)
  return first
}

/** Gives an offer what it says that it requires, asks the price, and pays. */
async function buy(offer: Pick<Item, 'offerId' | 'requiredFields'>, known: Arguments = {}) {
  expect(callsBefore).toBeLessThanOrEqual(2)
  const needed = offer.requiredFields.map((name) => [name, { ...person, ...known }[name]])
  const args = { ...known, ...Object.fromEntries(needed), offerId: offer.offerId }
  const asked = await call('buy', args)
  expect(asked.data, JSON.stringify(asked.data)).toHaveProperty('accepts')
  const payment = await paymentFor(buyer, asked.data.accepts[0])
  const bought = await call('buy', args, { 'x402/payment': payment })
  callsBefore = 0
  return { asked, bought }
}

const goodsOf = ({ data }: Result) => data.orders[0]

test('a Netflix card of 25 EUR for Germany', async () => {
  const card = await firstOf({ query: '25 EUR Netflix gift card Germany' })
  expect(card).toMatchObject({
    brandName: 'Netflix',
    country: 'DE',
    faceValue: { currency: 'EUR', fixed: 2_500 },
  })
  const { bought } = await buy(card)
  expect(goodsOf(bought)).toMatchObject({ state: 'FULFILLED' })
})

test('10 EUR for a Spanish number, as it is written down', async () => {
  const phone = '+34 (600) 12 34 56'
  const topups = await search({ query: 'Movistar 10 EUR', phone })
  const topup = topups.find(({ faceValue }) => faceValue?.fixed === 1_000)
  expect(topup).toMatchObject({ brandName: 'Movistar', country: 'ES' })
  const { asked, bought } = await buy(topup as Item, { msisdn: phone })
  expect(asked.data.message).toContain('+34600123456')
  expect(goodsOf(bought)).toMatchObject({ state: 'FULFILLED' })
})

test('a recharge of an eSIM', async () => {
  const plan = { offerId: 'TEST-ESIM-OK', requiredFields: [] }
  const first = (await buy(plan, { include_goods: true })).bought
  const { iccid } = goodsOf(first).result
  const { asked, bought } = await buy(plan, { iccid, include_goods: true })
  expect(asked.data.message).toContain(`a recharge of the eSIM ${iccid}`)
  expect(goodsOf(bought)).toMatchObject({ state: 'FULFILLED', result: { iccid } })
})

test('a choice of twenty cards, in at most 2,500 tokens', async () => {
  const { data, texts } = await call('search', { query: 'gift card' })
  expect(data.items).toHaveLength(20)
  expect(tokensIn(texts.join('\n'))).toBeLessThanOrEqual(2_500)
})

test('the median answer of all errands has at most 1,500 tokens', () => {
  const sorted = sizes.toSorted((one, other) => one - other)
  expect(sorted.length).toBeGreaterThan(8)
  expect(sorted[sorted.length >> 1]).toBeLessThanOrEqual(1_500)
})
