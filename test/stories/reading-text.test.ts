import { beforeAll, describe, expect, test } from 'vitest'
import { allItems, callerFor } from './reading.ts'
import { useStore } from './store.ts'

const store = useStore({ offers: 3_000 })
const call = callerFor(store)
let vouchers: Record<string, unknown>[]

beforeAll(async () => {
  vouchers = await allItems(call, '/ai/vouchers', 50)
})

const wordsIn = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? []

/** The words of every field that free text looks in, but for the country's name. */
const textOf = (item: Record<string, unknown>) =>
  wordsIn(
    ['brand', 'brandName', 'description', 'shortNotes', 'subTypes', 'regions']
      .map((name) => String(item[name] ?? ''))
      .join(' '),
  )

const beginsIn = (item: Record<string, unknown>, query: string) =>
  wordsIn(query).every((word) => textOf(item).some((other) => other.startsWith(word)))

describe('free text', () => {
  test.each(['gift', 'hotel nights', 'netflix', 'streaming', 'western eur', 'EGIFT', 'usd 25'])(
    '"%s" finds every offer whose words begin with it, and those first',
    async (search) => {
      const path = `/ai/vouchers?search=${encodeURIComponent(search)}`
      const found = await allItems(call, path, 50)
      const expected = vouchers.filter((item) => beginsIn(item, search))
      const ids = new Set(found.map(({ offerId }) => offerId))
      expect(expected.length, search).toBeGreaterThan(0)
      expect(expected.filter(({ offerId }) => !ids.has(offerId))).toEqual([])
    },
  )

  test('the brand that was meant comes first', async () => {
    for (const search of ['Amazon', 'Netflix', 'xbox', 'Google Play', 'uber']) {
      const { body } = await call(`/ai/vouchers?search=${encodeURIComponent(search)}&limit=1`)
      expect(body.items[0].brandName.toLowerCase(), search).toBe(search.toLowerCase())
    }
  })

  test.each([
    ['netflx', 'Netflix'],
    ['amazom', 'Amazon'],
    ['spotiffy', 'Spotify'],
    ['starbuks', 'Starbucks'],
  ])('the slip "%s" still finds %s', async (search, brandName) => {
    const { body } = await call(`/ai/vouchers?search=${search}&limit=50`)
    const names = body.items.map((item: { brandName: string }) => item.brandName)
    expect(names).toContain(brandName)
  })

  test('what matches exactly stands before what matches by a slip', async () => {
    const { body } = await call('/ai/vouchers?search=target&limit=50')
    const exact = body.items.map((item: Record<string, unknown>) => beginsIn(item, 'target'))
    expect(exact[0]).toBe(true)
    expect(exact.indexOf(false) === -1 || exact.lastIndexOf(true) < exact.indexOf(false)).toBe(true)
  })

  test('the name of a country finds its offers', async () => {
    const { body } = await call('/ai/esims?q=japan&limit=50')
    expect(body.total).toBeGreaterThan(0)
    const { body: own } = await call('/ai/esims?country=JP&limit=50')
    const ids = body.items.map(({ offerId }: { offerId: string }) => offerId)
    for (const { offerId } of own.items) expect(ids).toContain(offerId)
  })
})

describe('an empty result', () => {
  test.each([
    'vouchers?country=AQ',
    'vouchers?brand=netflixx',
    'vouchers?brand=amazon&country=KE&subType=Dating',
    'vouchers?search=zzzzqqqq',
    'topups?brand=tigo&country=DE',
    'topups?country=AQ&subType=data',
    'topups?brand=vodafon3',
    'esims?country=AQ&regions=Europe',
    'esims?q=zzzzqqqq&regions=Asia',
    'esims?brand=nosuchbrand',
  ])('of %s says which filter emptied it, and what would not', async (query) => {
    const { status, body } = await call(`/ai/${query}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ total: 0, items: [], hint: { message: expect.any(String) } })
    const { parameter, nearest, message } = body.hint
    const asked = new URLSearchParams(query.split('?')[1])
    // Where no one filter is to blame alone, the sentence names those that are together.
    expect(parameter === undefined || asked.has(parameter)).toBe(true)
    expect([...asked.keys()].some((name) => message.includes(name))).toBe(true)
    if (nearest === undefined) return
    asked.set(parameter, nearest)
    const again = await call(`/ai/${query.split('?')[0]}?${asked}`)
    expect(again.body.total, `${parameter}=${nearest}`).toBeGreaterThan(0)
  })

  test('names the countries that have the brand', async () => {
    const { body } = await call('/ai/vouchers?brand=walmart&country=KE')
    expect(body.hint).toMatchObject({ parameter: 'country' })
    const countries = vouchers
      .filter(({ brandName }) => brandName === 'Walmart')
      .map(({ country }) => country)
    expect(countries).toContain(body.hint.nearest)
    for (const country of new Set(countries)) expect(body.hint.message).toContain(country)
  })

  // What a model followed to the wrong goods, before a hint had to be near.
  test.each([
    ['vouchers?search=zzzzqq', undefined],
    ['vouchers?search=spotify premium 3 months', 'spotify'],
    ['vouchers?search=netflix north korea', 'netflix'],
    ['vouchers?country=KP', undefined],
    ['topups?country=KP', undefined],
    ['esims?q=recharge', undefined],
  ])('of %s proposes %s', async (query, nearest) => {
    const { body } = await call(`/ai/${query}`)
    expect([body.total, body.hint.nearest]).toEqual([0, nearest])
  })

  test.each([
    ['vouchers?search=netflix north korea', ['north korea']],
    ['esims?q=France 5GB zzzz', ['zzzz']],
  ])('of %s says which words it would leave out', async (query, words) => {
    const { body } = await call(`/ai/${query}`)
    expect(body.total).toBe(0)
    for (const word of words) expect(body.hint.message).toContain(`"${word}"`)
  })

  test.each(['France Italy', '5GB Europe 14 days', 'Spain 10GB 30 days', 'tset', 'sandbx dirty'])(
    'of esims?q=%s never proposes a brand for tests',
    async (text) => {
      const { body } = await call(`/ai/esims?q=${text}`)
      expect(body.hint?.nearest ?? '').not.toMatch(/^(?:sandbox|test)/i)
    },
  )
})
