import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import { fixed, fixturePricing, shopOffers, voucher } from '../../test/fixtures/offers.ts'
import { queryOf } from '../api/query.ts'
import { createLiveCatalog } from '../catalog/catalog.ts'
import type { RateTable } from '../catalog/ports.ts'
import { createAnswerCache } from './answer-cache.ts'
import type { compress } from './content-coding.ts'

const pricing = fixturePricing()
const shop = (offers = shopOffers) => catalogOf(offers, pricing)

/** A cache that counts how often answers are made, and whose compression ends when the test says so. */
function openCache(maxBytes?: number) {
  const liveCatalog = createLiveCatalog(shop())
  const waiting: ((form: Buffer) => void)[] = []
  const compressBody: typeof compress = () => {
    const { promise, resolve } = Promise.withResolvers<Buffer>()
    waiting.push(resolve)
    return promise
  }
  const cache = createAnswerCache(
    { liveCatalog, pricing, site: testApp().deps.site },
    { maxBytes, compressBody },
  )
  let made = 0
  const ask = (url: string, params: object = {}) =>
    cache.find('/route', url, () =>
      queryOf(params, () => {
        made += 1
        return { made, filling: 'x'.repeat(2_000) }
      }),
    )
  return { cache, liveCatalog, waiting, ask, made: () => made }
}

const settled = () => new Promise((resolve) => setImmediate(resolve))

describe('an answer is made once', () => {
  test('for one address', () => {
    const { ask, made } = openCache()
    expect(ask('/a').answer.body).toBe(ask('/a').answer.body)
    expect(made()).toBe(1)
  })

  test('for one question in other words', () => {
    const { ask, made } = openCache()
    ask('/a?x=1&y=2', { x: 1, y: 2, z: undefined })
    ask('/a?y=2&x=1', { y: 2, x: 1 })
    expect(made()).toBe(1)
    ask('/a?x=2&y=1', { x: 2, y: 1 })
    ask('/a?x=1', { x: 1 })
    expect(made()).toBe(3)
  })

  test('but again when the catalog was loaded anew, even with the same offers', () => {
    const { ask, liveCatalog, cache, made } = openCache()
    ask('/a')
    const one = cache.bytes()
    ask('/b', { b: 1 })
    liveCatalog.replace(shop())
    ask('/a')
    expect([made(), cache.bytes()]).toEqual([3, one])
  })

  test('and each time when nothing may be kept', () => {
    const { ask, made, cache } = openCache(0)
    ask('/a')
    ask('/a')
    expect([made(), cache.bytes()]).toEqual([2, 0])
  })
})

test('what throws is not kept', () => {
  const { cache, ask } = openCache()
  const refuse = () => {
    throw new Error('no')
  }
  expect(() => cache.find('/route', '/a', refuse)).toThrow('no')
  expect(() => cache.find('/route', '/a', () => queryOf({}, refuse))).toThrow('no')
  expect(JSON.parse(ask('/a').answer.body.toString())).toMatchObject({ made: 1 })
})

describe('smaller forms', () => {
  test('are made once, for what is asked for again', async () => {
    const { ask, waiting } = openCache()
    expect([ask('/a').smaller('br'), waiting.length]).toEqual([undefined, 0])
    expect([ask('/a').smaller('br'), waiting.length]).toEqual([undefined, 1])
    expect([ask('/a').smaller('br'), waiting.length]).toEqual([undefined, 1])
    const form = Buffer.from('small')
    waiting[0]?.(form)
    await settled()
    expect(ask('/a').smaller('br')).toBe(form)
    expect(waiting.length).toBe(1)
  })

  test('are counted', async () => {
    const { ask, waiting, cache } = openCache()
    ask('/a')
    ask('/a').smaller('gzip')
    const before = cache.bytes()
    waiting[0]?.(Buffer.alloc(700))
    await settled()
    expect(cache.bytes()).toBe(before + 700)
  })

  test('that get ready after a swap are dropped', async () => {
    const { ask, waiting, liveCatalog } = openCache()
    ask('/a')
    ask('/a').smaller('br')
    liveCatalog.replace(shop())
    ask('/a')
    waiting[0]?.(Buffer.from('old'))
    await settled()
    expect(ask('/a').smaller('br')).toBeUndefined()
  })

  test('are made two at a time', () => {
    const { ask, waiting } = openCache()
    for (const key of ['a', 'b', 'c']) {
      ask(`/${key}`, { key })
      ask(`/${key}`).smaller('br')
    }
    expect(waiting.length).toBe(2)
  })
})

describe('never the answer of another state of the store', () => {
  const day = 86_400_000
  const urls = [
    '/ai',
    '/ai/capabilities',
    '/ai/vouchers',
    '/ai/vouchers?limit=20&offset=0',
    '/ai/vouchers?country=us&brand=amazon',
    '/ai/vouchers?brand=amazon&country=US',
    '/ai/vouchers?search=nothing',
    '/ai/vouchers?limit=0',
    '/ai/topups',
    '/ai/topups?subType=data',
    '/ai/esims',
    '/ai/esims?regions=Europe',
    '/api/catalog/vouchers/offers?minValue=11',
    '/api/catalog/vouchers/offers?category=Fuel',
    '/api/catalog/vouchers/offers/EUR',
    '/api/catalog/topups/offers/EUR',
    '/api/catalog/vouchers/brands',
    '/api/catalog/vouchers/filters',
    '/api/catalog/vouchers/countries',
    '/api/catalog/topups/countries',
    '/api/catalog/topups/regions',
    '/api/catalog/topups/offers?region=south-asia',
    '/api/catalog/esims/offers?covers=FR,DE',
  ]
  const offers = [...shopOffers, voucher('EUR', { price: fixed(1_000, 'EUR') })]
  const rateTables = [0.9, 0.5].map(
    (eur): RateTable => ({
      asOf: new Date('2026-11-16T00:00:00Z'),
      source: 'fixture',
      perUsd: { EUR: eur, JPY: 150, GTQ: 7.7 },
    }),
  )
  const step = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ do: fc.constant('ask' as const), which: fc.nat(urls.length - 1) }),
    },
    fc.record({
      do: fc.constantFrom('swap' as const, 'rates' as const, 'wait' as const),
      which: fc.nat(offers.length),
    }),
  )

  /** A store that caches its answers and one that caches none, with the same catalog and rates. */
  function openTwins() {
    let rates = rateTables[0]
    let now = Date.parse('2026-11-17T00:00:00Z')
    const pricing = fixturePricing({ rates: () => rates, now: () => new Date(now) })
    const liveCatalog = createLiveCatalog(catalogOf(offers, pricing))
    const cached = testApp({ liveCatalog, pricing })
    const plain = testApp({ liveCatalog, pricing, maxAnswerBytes: 0 })
    return {
      swap: (which: number) => liveCatalog.replace(catalogOf(offers.slice(which), pricing)),
      // A real store rebuilds its catalog a moment later, and does not rebuild it because time passes.
      rates: (which: number) => {
        rates = rateTables[which % 2]
      },
      wait: () => {
        now += day
      },
      ask: async (which: number) => {
        const url = urls[which] ?? ''
        const [one, other] = await Promise.all([cached.app.inject(url), plain.app.inject(url)])
        expect(shown(one), url).toEqual(shown(other))
      },
    }
  }

  test('a price ends when its rates become too old, and a category when its last offer goes', async () => {
    const { ask, wait, swap } = openTwins()
    const [detail, category] = ['/api/catalog/vouchers/offers/EUR', '?category=Fuel'].map((end) =>
      urls.findIndex((url) => url.endsWith(end)),
    )
    for (let at = 0; at < 5; at += 1) {
      await ask(detail ?? -1)
      wait()
    }
    await ask(category ?? -1)
    swap(offers.length)
    await ask(category ?? -1)
  })

  test('with the cache every answer is what it is without, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
        const twins = openTwins()
        for (const { do: what, which } of steps) await twins[what](which)
      }),
      { numRuns: 40 },
    )
  })

  type Injected = Awaited<ReturnType<ReturnType<typeof testApp>['app']['inject']>>
  function shown({ statusCode, body, headers }: Injected) {
    const { date: _, 'x-request-id': __, ...others } = headers
    // A problem document contains the id of its request.
    return [statusCode, statusCode === 200 ? body : '', { ...others, 'content-length': '' }]
  }
})
