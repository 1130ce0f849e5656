import { randomBytes } from 'node:crypto'
import {
  type CompleteSIWxInfo,
  createSIWxPayload,
  encodeSIWxHeader,
} from '@x402/extensions/sign-in-with-x'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Buyer, newBuyer } from '../buyer.ts'
import { get, purchasePath } from '../requests.ts'
import { useStore } from '../store.ts'
import { type Arguments, buyWith, type McpClient, openClient, type Result } from './client.ts'

const store = useStore({ offers: 12_000 })
let buyer: Buyer
let client: McpClient

beforeAll(async () => {
  buyer = await newBuyer()
  client = await openClient(store, '2026-07-28')
})
afterAll(() => client.close())

/** Four characters are about a token of o200k; signatures are more. */
const tokensOf = (...texts: readonly string[]) => Math.ceil(texts.join('').length / 4)

/** Counts what a model reads and writes. */
function counted() {
  const texts: string[] = []
  const call = async (tool: string, args: Arguments = {}, meta: Arguments = {}) => {
    const result = await client.call(tool, args, meta)
    texts.push(JSON.stringify(args), ...result.texts)
    return result
  }
  return { call, tokens: () => tokensOf(...texts) }
}

const newKey = () => `errand-${randomBytes(12).toString('hex')}`
const card = (brandName: string, country: string, fixed: number, currency: string) => ({
  first: { kind: 'voucher', brandName, country, faceValue: { currency, fixed } },
})

interface Errand {
  readonly errand: string
  readonly search: Arguments
  /** Of the answer, and of the first offer that it finds. */
  readonly wanted: Arguments
  readonly first: Arguments
  /** What a quote of that offer says. */
  readonly quote?: readonly [fields: Arguments, message: RegExp]
  readonly tokens: number
}

const names = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', country: 'DE' }

const errands: readonly Errand[] = [
  {
    errand: 'a Netflix card of 25 euros for Germany',
    search: { query: '25 EUR Netflix card for Germany', limit: 3 },
    wanted: { total: 1, leftOut: [] },
    ...card('Netflix', 'DE', 2_500, 'EUR'),
    quote: [names, /a 25\.00 EUR Netflix card \(DE\) for 29\.07 USDC/],
    tokens: 350,
  },
  {
    errand: '10 euros for the phone of a mother in Spain',
    search: { query: '10 euros', phone: '+34 600 123 456', limit: 3 },
    wanted: { likelyOperator: 'Vodafone', leftOut: [] },
    first: { kind: 'topup', brandName: 'Vodafone', faceValue: { currency: 'EUR', fixed: 1_000 } },
    quote: [
      { msisdn: '+34600123456' },
      /10\.00 EUR Vodafone topup .* for the number \+34600123456/,
    ],
    tokens: 500,
  },
  {
    errand: 'the cheapest plan for France, Italy and Switzerland, 5 GB, two weeks',
    search: { covers: ['FR', 'IT', 'CH'], minDataGb: 5, minDays: 14, sort: 'price', limit: 3 },
    wanted: { leftOut: [] },
    first: { kind: 'esim', dataGb: 5, durationDays: 30, usdc: { amount: '12990000' } },
    tokens: 300,
  },
  {
    errand: 'about 50 dollars for a PlayStation account of the United States',
    search: { query: 'PlayStation, about 50 dollars', country: 'US', limit: 3 },
    wanted: { leftOut: [] },
    ...card('PlayStation Store', 'US', 5_000, 'USD'),
    tokens: 150,
  },
  {
    errand: '30 pounds for Uber Eats in London, which no card has',
    search: { brand: 'Uber Eats', country: 'GB', query: '30 GBP', limit: 3 },
    wanted: { leftOut: ['30 GBP'], sums: ['2 x 15 GBP'] },
    first: { kind: 'voucher', brandName: 'Uber Eats', country: 'GB' },
    tokens: 300,
  },
  {
    errand: 'data in Tokyo from 3 to 17 December',
    search: { query: 'data in Tokyo, December 3 to December 17', limit: 3 },
    wanted: { leftOut: [] },
    first: { kind: 'esim', durationDays: 15, coverage: { countries: ['JP'] } },
    tokens: 300,
  },
  {
    errand: 'airtime for 5 dollars in Nigeria, and not above 6 USDC',
    search: { query: '5 dollars', phone: '+2348031234567', maxUsdc: 6, limit: 3 },
    wanted: { likelyOperator: 'MTN', leftOut: [] },
    first: { kind: 'topup', brandName: 'MTN', country: 'NG' },
    quote: [{ msisdn: '+2348031234567', value: 5, maxUsdc: 6 }, /for 5\.00 USDC/],
    tokens: 570,
  },
  {
    errand: 'three Steam cards of 20 dollars',
    search: { query: '3 Steam cards of 20 dollars', limit: 3 },
    wanted: { leftOut: ['3'] },
    ...card('Steam', 'US', 2_000, 'USD'),
    tokens: 150,
  },
  {
    errand: 'something for a young gamer in Mexico under 15 dollars',
    search: { subType: 'Gaming & Entertainment', country: 'MX', maxUsdc: 15, limit: 3 },
    wanted: { leftOut: [] },
    first: { kind: 'voucher', country: 'MX' },
    tokens: 400,
  },
  {
    errand: '5,000 yen for Amazon in Japan',
    search: { query: 'Amazon.co.jp, 5000 yen', limit: 3 },
    wanted: { total: 1, leftOut: [] },
    ...card('Amazon', 'JP', 5_000, 'JPY'),
    tokens: 150,
  },
  {
    errand: 'a card for a restaurant in Paris',
    search: { query: 'gift card for a restaurant in Paris', limit: 3 },
    wanted: { leftOut: [] },
    first: { kind: 'voucher', country: 'FR' },
    tokens: 300,
  },
  {
    errand: 'airtime for Cuba',
    search: { query: 'airtime Cuba', limit: 3 },
    wanted: { leftOut: [] },
    first: { kind: 'topup', brandName: 'Cubacel', country: 'CU' },
    tokens: 300,
  },
  {
    errand: 'roaming in Switzerland and Liechtenstein',
    search: { covers: ['CH', 'LI'], limit: 3 },
    wanted: { leftOut: [] },
    first: { kind: 'esim', coverage: { countries: expect.arrayContaining(['CH', 'LI']) } },
    tokens: 300,
  },
  {
    errand: 'three months of Xbox Game Pass in Brazil, where only values are sold',
    search: { query: 'Xbox Game Pass, 3 months, Brazil', limit: 3 },
    wanted: { leftOut: ['3 months'] },
    first: { kind: 'voucher', brandName: 'Xbox', country: 'BR' },
    tokens: 300,
  },
  {
    errand: 'a prepaid Visa card of 100 dollars',
    search: { query: 'prepaid Visa card of 100 USD', limit: 3 },
    wanted: { total: 1, leftOut: [] },
    first: { kind: 'voucher', faceValue: { currency: 'USD', fixed: 10_000 } },
    tokens: 150,
  },
]

test.each(errands)('a model finds $errand in one call', async (errand) => {
  const { call, tokens } = counted()
  const { data } = await call('search', errand.search)
  expect(data).toMatchObject(errand.wanted)
  expect(data.items[0]).toMatchObject(errand.first)
  if (errand.quote !== undefined) {
    const [fields, message] = errand.quote
    const quoted = await call('quote', { offerId: data.items[0].offerId, ...fields })
    expect(quoted.data.message).toMatch(message)
    expect(quoted.data).not.toHaveProperty('warning')
  }
  expect(tokens()).toBeLessThanOrEqual(errand.tokens)
})

describe('a model that reads only the answers', () => {
  /** From search to goods, as the description of the tools says. */
  async function purchase(search: Arguments, fields: Arguments) {
    const { call, tokens } = counted()
    const { data } = await call('search', { ...search, limit: 3 })
    const { offerId } = data.items[0]
    await call('get_offer', { offerId })
    const args = { offerId, ...fields }
    await call('quote', args)
    const key = newKey()
    const { asked, bought } = await buyWith(call, buyer, { ...args, idempotency_key: key })
    return { key, asked, bought, tokens }
  }

  test.each<[string, Arguments, Arguments, RegExp]>([
    [
      'a card',
      { query: '25 EUR Netflix card for Germany' },
      names,
      /^Delivered: a 25\.00 EUR Netflix card \(DE\) for Ada Lovelace, 29\.07 USDC paid\. Give reveal\.url/,
    ],
    [
      'a topup',
      { query: '10 euros', phone: '+34 600 123 456' },
      { msisdn: '+34600123456' },
      /^Delivered: a 10\.00 EUR Vodafone topup .* for the number \+34600123456, 12\.10 USDC paid\. Nothing is left/,
    ],
    [
      'a plan',
      { query: 'esim japan 15 days', sort: 'price' },
      {},
      /^Delivered: a new .* eSIM plan .*, [\d.]+ USDC paid\. Give reveal\.url/,
    ],
  ])('buys %s within 3,000 tokens, and is told what it got', async (_, search, fields, told) => {
    const { asked, bought, tokens } = await purchase(search, fields)
    expect(bought.data.message).toMatch(told)
    expect(bought.data.receipt_url).toMatch(/^http:\/\/127\.0\.0\.1/)
    // Two signatures in it have two characters a token: together 900 tokens.
    expect(asked.texts.join('').length).toBeLessThanOrEqual(2_600)
    expect(tokens()).toBeLessThanOrEqual(3_000)
  })

  test('recharges the plan that it bought, by the ICCID', async () => {
    const { key, bought } = await purchase({ query: 'esim japan 15 days', sort: 'price' }, {})
    const { orderId } = bought.data
    const proof = { orderId, idempotency_key: key, include_goods: true }
    const shown = await client.call('order_status', proof)
    const { iccid } = shown.data.orders[0].result
    expect(shown.data.orders[0].result).not.toHaveProperty('qrPng')
    const { call, tokens } = counted()
    const { data } = await call('search', { iccid, country: 'JP', limit: 3 })
    expect(data.items[0]).toMatchObject({ kind: 'esim', coverage: { countries: ['JP'] } })
    const quoted = await call('quote', { offerId: data.items[0].offerId, iccid })
    expect(quoted.data.message).toContain(`a recharge of the eSIM ${iccid}`)
    expect(tokens()).toBeLessThanOrEqual(450)
  })

  test('is told, over MCP and HTTP, that no plan of another brand can recharge it', async () => {
    const { key, bought } = await purchase({ query: 'esim japan 15 days', sort: 'price' }, {})
    const proof = { orderId: bought.data.orderId, idempotency_key: key, include_goods: true }
    const { data: shown } = await client.call('order_status', proof)
    const { iccid } = shown.orders[0].result
    const { data: others } = await client.call('search', { query: 'Ubigi eSIM', limit: 1 })
    const body = { offerId: others.items[0].offerId, iccid }
    const detail = 'iccid is an eSIM of another brand; only plans of Travel eSIM can recharge it.'
    const refused = { charged: 'no', detail }
    expect((await client.call('quote', body)).data).toMatchObject(refused)
    const query = new URLSearchParams(body)
    expect((await get(store.url, `${purchasePath('esim')}?${query}`)).body).toMatchObject(refused)
  })

  test('gets the QR code of a plan as a picture, if it asks', async () => {
    const { key, bought } = await purchase({ query: 'esim japan 15 days', sort: 'price' }, {})
    const proof = { orderId: bought.data.orderId, idempotency_key: key, include_goods: true }
    const picturesWith = async (more: Arguments) => {
      const args = { ...proof, ...more }
      const { content } = await client.client.callTool({ name: 'order_status', arguments: args })
      return content.filter(({ type }) => type === 'image')
    }
    expect(await picturesWith({})).toEqual([])
    expect(await picturesWith({ include_qr: true })).toMatchObject([
      { mimeType: 'image/png', data: expect.stringMatching(/^iVBOR/) },
    ])
  })

  test('learns what became of a purchase whose answer was lost, and lists what it bought', async () => {
    const { key, bought } = await purchase({ query: 'Steam card 20 dollars' }, names)
    const { call, tokens } = counted()
    const { data } = await call('order_status', { idempotency_key: key })
    expect(data.orderId).toBe(bought.data.orderId)
    expect(data.message).toMatch(/^Delivered: a 20\.00 USD Steam card/)
    const list = await call('order_status', { limit: 1 })
    const signed = await call('order_status', { limit: 1 }, await signInFor(list))
    expect(signed.data.items).toMatchObject([{ orderId: bought.data.orderId, brandName: 'Steam' }])
    expect(tokens()).toBeLessThanOrEqual(1_300)
  })

  async function signInFor({ data }: Result): Promise<Arguments> {
    const { info, supportedChains } = data.extensions['sign-in-with-x']
    const full: CompleteSIWxInfo = { ...info, ...supportedChains[0] }
    const payload = await createSIWxPayload(full, buyer.account, info.uri)
    return { 'sign-in-with-x': encodeSIWxHeader(payload) }
  }

  test('is told whom to ask about a code that does not work, and what to name', async () => {
    const { bought } = await purchase({ query: 'Steam card 20 dollars' }, names)
    const { orderId } = bought.data
    const { call, tokens } = counted()
    const { isError, data, texts } = await call('refund', { orderId })
    expect(isError).toBe(true)
    expect(data).toMatchObject({ code: 'not_refundable', orderId, contact: expect.any(String) })
    expect(texts[0]).toContain(`For help write to ${data.contact} and name ${orderId}.`)
    expect(tokens()).toBeLessThanOrEqual(250)
  })

  test('is told that the money of a failed purchase comes back, and by whom', async () => {
    const fields = { offerId: 'TEST-TOPUP-FAIL', msisdn: '+12025550188' }
    const { bought } = await buyWith(client.call, buyer, { ...fields, idempotency_key: newKey() })
    expect(bought.data.message).toMatch(
      /^Not delivered: a .* topup .* for 0\.60 USDC\. The full amount .* For help write to .* and name ord_/,
    )
    const { data } = await client.call('refund', { orderId: bought.data.orderId })
    expect(data.state).toMatch(/^REFUND/)
  })

  test('is warned of a topup for a number of another operator, and may buy it', async () => {
    const orange = await client.call('search', { brand: 'Orange', country: 'ES', limit: 1 })
    const { offerId } = orange.data.items[0]
    const quoted = await client.call('quote', { offerId, msisdn: '+34600123456' })
    expect(quoted.isError).toBe(false)
    expect(quoted.data.warning).toContain('first assigned to Vodafone')
  })
})
