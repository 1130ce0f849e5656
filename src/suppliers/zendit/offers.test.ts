import { expect, it } from 'vitest'
import {
  type RecordedRequest,
  type Reply,
  type ScriptOf,
  scriptedClient,
} from '../scripted-server.fixture.ts'
import { createZenditOffers } from './offers.ts'
import { rawEsim, rawTopup, rawVoucher } from './sample-offers.fixture.ts'

const { signal } = new AbortController()

interface Lists {
  readonly vouchers: readonly unknown[]
  readonly topups: readonly unknown[]
  readonly esim: readonly unknown[]
}

const oneOfEach: Lists = { vouchers: [rawVoucher()], topups: [rawTopup()], esim: [rawEsim()] }

function vouchers(count: number): unknown[] {
  return Array.from({ length: count }, (_, index) => {
    return rawVoucher({ offerId: `V_${index}`, brand: `BRAND ${index % 3}` })
  })
}

/** The page of a list that a request asks for. */
function pageOf(lists: Lists, { path, query }: RecordedRequest): Reply {
  const family = path.split('/')[1] as keyof Lists
  const limit = Number(query.get('_limit'))
  const offset = Number(query.get('_offset'))
  const list = lists[family]
  return { json: { limit, offset, total: list.length, list: list.slice(offset, offset + limit) } }
}

function scriptOf(
  lists: Lists,
  brand: (asked: RecordedRequest) => Reply = () => ({ status: 404, json: {} }),
) {
  return (asked: RecordedRequest) =>
    asked.path.startsWith('/brands/') ? brand(asked) : pageOf(lists, asked)
}

async function sourceFor(script: ScriptOf, now = () => new Date()) {
  const { server, client } = await scriptedClient(script)
  const looks = () => server.asked.filter(({ path }) => path.startsWith('/brands/')).length
  return { server, source: createZenditOffers(client, now), looks }
}

it('reads all three kinds, page by page', async () => {
  const { source, server } = await sourceFor(scriptOf({ ...oneOfEach, vouchers: vouchers(514) }))
  const { offers, rejected } = await source.list(signal)
  expect(offers).toHaveLength(516)
  expect(new Set(offers.map((offer) => offer.kind))).toEqual(new Set(['voucher', 'topup', 'esim']))
  expect(rejected).toEqual({})
  const pages = server.asked.filter(({ path }) => path === '/vouchers/offers')
  expect(pages.map(({ query }) => query.toString())).toEqual([
    '_limit=256&_offset=0',
    '_limit=256&_offset=255',
    '_limit=256&_offset=510',
  ])
})

it('counts what is rejected', async () => {
  const disabled = rawVoucher({ offerId: 'OFF', enabled: false })
  const lists = { ...oneOfEach, vouchers: [rawVoucher(), disabled, disabled], topups: [] }
  const { source } = await sourceFor(scriptOf(lists))
  const { offers, rejected } = await source.list(signal)
  expect(offers.map(({ id, kind }) => [id, kind])).toEqual([
    ['APPLE_US_10_EGIFT_WHS', 'voucher'],
    ['ESIM-EUROPE-30D-10GB', 'esim'],
  ])
  expect(rejected).toEqual({ disabled: 2 })
})

it('follows a supplier that gives fewer at once than it was asked for', async () => {
  const lists = { ...oneOfEach, vouchers: vouchers(250) }
  const { source } = await sourceFor((asked) => {
    if (asked.path !== '/vouchers/offers') return scriptOf(lists)(asked)
    const offset = Number(asked.query.get('_offset'))
    const list = lists.vouchers.slice(offset, offset + 100)
    return { json: { limit: 100, offset, total: 250, list } }
  })
  expect((await source.list(signal)).offers).toHaveLength(252)
})

/** A supplier whose list of vouchers is so long at each of these looks, and at all after them. */
function growing(totals: number[]) {
  const asked = { calls: 0 }
  const script: ScriptOf = (request) => {
    const isList = request.path === '/vouchers/offers'
    const total = totals[Math.min(asked.calls, totals.length - 1)] ?? 0
    if (isList) asked.calls += 1
    return scriptOf({ ...oneOfEach, vouchers: vouchers(total) })(request)
  }
  return { asked, script }
}

it('reads a kind once more when its total changes in the middle', async () => {
  const { asked, script } = growing([300, 299])
  const { source } = await sourceFor(script)
  expect((await source.list(signal)).offers).toHaveLength(301)
  expect(asked.calls).toBe(4)
})

it('throws when the total changes in the middle twice', async () => {
  const { source } = await sourceFor(growing([1500, 1499, 1500, 1499]).script)
  const message = '/vouchers/offers changed while it was read: 1500, then 1499 records'
  await expect(source.list(signal)).rejects.toThrow(message)
})

it('throws when a record moves over the edge of a page while the list is read', async () => {
  const lists = { ...oneOfEach, vouchers: vouchers(300) }
  const [first, ...rest] = lists.vouchers
  const moved = { ...lists, vouchers: [...rest, first] }
  const { source } = await sourceFor((asked) =>
    scriptOf(asked.query.get('_offset') === '0' ? lists : moved)(asked),
  )
  await expect(source.list(signal)).rejects.toThrow('moved while it was read')
})

it.each<[string, string, (calls: number) => Reply]>([
  ['a page fails', 'answered with 503', () => ({ status: 503, json: {} })],
  ['a page is cut short', 'gave 1 of 2', () => ({ json: { total: 2, list: [rawTopup()] } })],
  ['a page holds too many', 'gave 1 of 0', () => ({ json: { total: 0, list: [rawTopup()] } })],
  ['a page is none', 'not a page', () => ({ json: { total: 1 } })],
  ['a page is no JSON', 'not a page', () => ({ text: '<html>' })],
  ['the connection breaks', 'ECONNRESET', () => 'reset'],
])('throws when %s twice', async (_name, message, reply) => {
  let calls = 0
  const { source } = await sourceFor((asked) =>
    asked.path === '/topups/offers' ? reply(calls++) : scriptOf(oneOfEach)(asked),
  )
  await expect(source.list(signal)).rejects.toThrow(message)
  expect(calls).toBe(2)
})

it('stops when it is told to', async () => {
  const stop = new AbortController()
  const { source, server } = await sourceFor((asked) => {
    if (asked.path === '/topups/offers') {
      stop.abort()
      return 'hang'
    }
    return scriptOf(oneOfEach)(asked)
  })
  await expect(source.list(stop.signal)).rejects.toThrow('abort')
  const asked = server.asked.map(({ path }) => path)
  expect(asked).toEqual(['/vouchers/offers', '/brands/APPLE', '/topups/offers'])
})

const hourMs = 3_600_000
const info = {
  description: 'Fruit\u0000',
  brandGiftImage: '',
  brandBigImage: 'https://x.example/a.png',
}

it('brands are described once a day', async () => {
  let now = new Date('2026-10-02T00:00:00Z')
  const lists = { ...oneOfEach, vouchers: vouchers(30) }
  const brand = () => ({ json: info })
  const { source, server, looks: asked } = await sourceFor(scriptOf(lists, brand), () => now)
  const { offers } = await source.list(signal)
  expect(offers[0]).toMatchObject({ description: 'Fruit', image: 'https://x.example/a.png' })
  expect(offers.find(({ kind }) => kind === 'esim')).not.toHaveProperty('description')
  expect(asked()).toBe(3)
  expect(server.asked.some(({ path }) => path === '/brands/BRAND%200')).toBe(true)

  now = new Date(now.getTime() + 23 * hourMs)
  expect((await source.list(signal)).offers[0]).toMatchObject({ description: 'Fruit' })
  expect(asked()).toBe(3)
  now = new Date(now.getTime() + 2 * hourMs)
  await source.list(signal)
  expect(asked()).toBe(6)
})

it('brands keep what was known when the supplier fails, and are asked again at the next load', async () => {
  let now = new Date('2026-10-02T00:00:00Z')
  let reply: Reply = { json: info }
  const brand = scriptOf(oneOfEach, () => reply)
  const { source, looks } = await sourceFor(brand, () => now)
  await source.list(signal)
  now = new Date(now.getTime() + 25 * hourMs)
  reply = 'reset'
  expect((await source.list(signal)).offers[0]).toMatchObject({ description: 'Fruit' })
  reply = { json: { ...info, description: 'New' } }
  expect((await source.list(signal)).offers[0]).toMatchObject({ description: 'New' })
  expect(looks()).toBe(3)
})

it('brands that the supplier does not know are not asked about again', async () => {
  const unknown = { status: 404, json: { errorCode: 'NOT_FOUND' } }
  const { source, looks } = await sourceFor(scriptOf(oneOfEach, () => unknown))
  await source.list(signal)
  await source.list(signal)
  expect(looks()).toBe(1)
})

it('brands that are being asked about do not make a stopped load a good one', async () => {
  const stop = new AbortController()
  const { source } = await sourceFor(
    scriptOf(oneOfEach, () => {
      stop.abort()
      return 'hang'
    }),
  )
  await expect(source.list(stop.signal)).rejects.toThrow('abort')
})

it('brands never fail a load, and do not hold one up for long', async () => {
  const many = Array.from({ length: 300 }, (_, index) => {
    return rawVoucher({ offerId: `V_${index}`, brand: `B${index}` })
  })
  const lists = { ...oneOfEach, vouchers: many }
  const broken = () => ({ status: 500, json: {} })
  const { source, looks } = await sourceFor(scriptOf(lists, broken))
  const { offers } = await source.list(signal)
  expect(offers).toHaveLength(302)
  expect(offers[0]).not.toHaveProperty('description')
  expect(looks()).toBeLessThan(20)
})

it.each([['javascript:alert(1)'], ['//no-scheme.example/a.png'], ['https://']])(
  'show no picture from %s',
  async (link) => {
    const { source } = await sourceFor(
      scriptOf(oneOfEach, () => ({ json: { brandLogo: link, description: 'D' } })),
    )
    const [offer] = (await source.list(signal)).offers
    expect(offer).toMatchObject({ description: 'D' })
    expect(offer).not.toHaveProperty('image')
  },
)

it('brands of dots only are not looked up', async () => {
  const lists = { ...oneOfEach, vouchers: [rawVoucher({ brand: '..' })] }
  const { source, server } = await sourceFor(scriptOf(lists))
  expect((await source.list(signal)).offers).toHaveLength(3)
  expect(server.asked).toHaveLength(3)
})
