import { expect, test } from 'vitest'
import { callerFor } from './reading.ts'
import { useStore } from './store.ts'

interface Item {
  readonly offerId: string
  readonly kind: string
  readonly brandName: string
  readonly country?: string
  /** An open price has the least and the most. */
  readonly usdc: { readonly amount?: string; readonly min?: string }
  readonly coverage?: { readonly total: number; readonly countries: readonly string[] }
}

const store = useStore({ offers: 3_000 })
const call = callerFor(store)

async function ask(params: Record<string, string>) {
  const { status, body } = await call(`/ai/search?${new URLSearchParams(params)}`)
  expect(status, JSON.stringify(params)).toBe(200)
  return body as {
    total: number
    items: Item[]
    leftOut: string[]
    likelyOperator?: string
    hint?: object
  }
}

const prices = (items: readonly Item[]) => items.map(({ usdc }) => Number(usdc.amount ?? usdc.min))
const ascending = (numbers: readonly number[]) => numbers.toSorted((one, other) => one - other)

test('answers a question in plain words', async () => {
  const { items, leftOut } = await ask({ query: 'an Amazon gift card, please' })
  expect(leftOut).toEqual([])
  expect(items.length).toBeGreaterThan(0)
  for (const item of items) expect(item).toMatchObject({ kind: 'voucher', brandName: 'Amazon' })
})

test('finds plans that work in every country', async () => {
  const named = await ask({ query: 'esim for France and Italy' })
  const given = await ask({ covers: 'FR,IT' })
  expect(named.items.length).toBeGreaterThan(0)
  expect(given).toEqual(named)
  for (const { kind, coverage } of named.items) {
    expect(kind).toBe('esim')
    expect(coverage?.countries.slice(0, 2)).toEqual(['FR', 'IT'])
    expect(coverage?.total).toBeGreaterThanOrEqual(2)
  }
})

test('keeps to a budget, and orders all kinds by price', async () => {
  const { items } = await ask({ country: 'US', maxUsdc: '20', sort: 'price', limit: '50' })
  expect(new Set(items.map(({ kind }) => kind)).size).toBeGreaterThan(1)
  expect(Math.max(...prices(items))).toBeLessThanOrEqual(20_000_000)
  expect(prices(items)).toEqual(ascending(prices(items)))
})

test('finds what tops up a phone, whose number it does not tell', async () => {
  const { items, ...rest } = await ask({ phone: '+5355564362' })
  expect(items.length).toBeGreaterThan(0)
  for (const item of items) expect(item).toMatchObject({ kind: 'topup', country: 'CU' })
  expect(JSON.stringify(rest)).not.toContain('55564362')
})

test('reads a local number in the country that the words name, and repeats none', async () => {
  const given = await ask({ query: 'airtime for 0803 123 4567 nigeria' })
  expect(given.likelyOperator).toBe('MTN')
  expect(given.leftOut).toEqual([])
  expect(given.items.length).toBeGreaterThan(0)
  for (const item of given.items) expect(item).toMatchObject({ kind: 'topup', country: 'NG' })
  for (const query of ['mtn airtime for 0803 123 4567', 'cuba credit for 0803 123 4567']) {
    const { leftOut, ...rest } = await ask({ query })
    expect(leftOut).toEqual(['phone number'])
    expect(JSON.stringify(rest)).not.toContain('4567')
  }
})

test('shows the topups of the likely operator of a phone first', async () => {
  const given = await ask({ phone: '+234 803 123 4567', limit: '50' })
  expect(given.likelyOperator).toBe('MTN')
  const isLikely = given.items.map(({ brandName }) => brandName.startsWith('MTN'))
  expect(new Set(isLikely)).toEqual(new Set([true, false]))
  expect(isLikely).toEqual(isLikely.toSorted((one, other) => Number(other) - Number(one)))
  expect(await ask({ query: '+234 803 123 4567', limit: '50' })).toEqual(given)
  const cards = await ask({ phone: '+234 803 123 4567', kind: 'voucher' })
  expect(cards.likelyOperator).toBeUndefined()
})

test('says what it left out, and why it finds nothing', async () => {
  const found = await ask({ query: 'Amazon card qwertzuiop' })
  expect(found.items.length).toBeGreaterThan(0)
  expect(found.leftOut).toEqual(['qwertzuiop'])
  expect(await ask({ query: 'Prada' })).toEqual({
    total: 0,
    limit: 20,
    offset: 0,
    items: [],
    leftOut: ['prada'],
    hint: { message: 'No offers have "prada".' },
  })
})

test.each([
  '+234 803 123 4567',
  'mtn nigeria 5 usd',
  'france italy switzerland',
  'japan 1 GB 7 days',
  'psn',
  'amazon deutschland',
  'tarjeta regalo amazon',
])(
  'the website finds for "%s" what a program finds, and says how it was understood',
  async (query) => {
    const { items } = await ask({ query, limit: '24' })
    const own = items.filter(({ kind }) => kind === items[0]?.kind).map(({ offerId }) => offerId)
    const page = await (
      await fetch(`${store.url}/search?${new URLSearchParams({ q: query })}`)
    ).text()
    const shown = Array.from(
      page.matchAll(/class="offer-card" href="\/buy\/([^"]+)"/g),
      ([, id]) => id,
    )
    expect(own.length).toBeGreaterThan(0)
    expect(shown).toEqual(own)
    expect(page).toContain('aria-label="Understood as"')
  },
)

test.each([
  ['', 'query'],
  [`query=${'x'.repeat(301)}`, 'query'],
  [`query=${encodeURIComponent('\u3316'.repeat(40))}`, 'query'],
  [`query=${'x+'.repeat(25)}`, 'query'],
  [`query=${'x'.repeat(41)}`, 'query'],
  ['query=', 'query'],
  ['query=x&kind=car', 'kind'],
  ['covers=France', 'covers'],
  ['minDataGb=-1', 'minDataGb'],
  ['minDays=0', 'minDays'],
  ['query=x&maxUsdc=much', 'maxUsdc'],
  ['phone=12', 'phone'],
  ['query=x&sort=name', 'sort'],
  ['query=x&offset=1001', 'offset'],
  ['query=x&colour=red', 'colour'],
])('refuses %s', async (params, parameter) => {
  const { status, body } = await call(`/ai/search?${params}`)
  expect(status).toBe(400)
  expect(body).toMatchObject({ parameter })
})
