import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { catalogOf } from '../../test/fixtures/catalog.ts'
import { fixed, fixturePricing, shopOffers, voucher } from '../../test/fixtures/offers.ts'
import { createLiveCatalog } from '../catalog/catalog.ts'
import type { RateTable } from '../catalog/ports.ts'
import { createAnswerCache } from './caching.ts'

const pricing = fixturePricing()
const shop = (offers = shopOffers) => catalogOf(offers, pricing)

/** A cache that counts how often answers are made. */
function openCache(maxBytes?: number) {
  const liveCatalog = createLiveCatalog(shop())
  const cache = createAnswerCache({ liveCatalog, pricing }, maxBytes)
  let made = 0
  const ask = (url: string) =>
    cache.find(url, () => {
      made += 1
      return `${url} ${made} ${'x'.repeat(2_000)}`
    })
  return { cache, liveCatalog, ask, made: () => made }
}

test('an answer is made once, and again when the catalog was loaded anew', () => {
  const { ask, liveCatalog, made } = openCache()
  expect(ask('/a')).toBe(ask('/a'))
  expect(made()).toBe(1)
  liveCatalog.replace(shop())
  ask('/a')
  expect(made()).toBe(2)
})

test.each([
  ['nothing may be kept', 0],
  ['there is no room for two', 3_000],
])('an answer is made again when %s', (_, maxBytes) => {
  const { ask, made } = openCache(maxBytes)
  for (const url of ['/a', '/b', '/a']) ask(url)
  expect(made()).toBe(3)
})

test('what throws is not kept', () => {
  const { cache, ask } = openCache()
  const refuse = () => {
    throw new Error('no')
  }
  expect(() => cache.find('/a', refuse)).toThrow('no')
  expect(String(ask('/a').text)).toContain('/a 1 ')
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

test('the index says what is taken at the moment', async () => {
  let takesCoins = false
  const { app, deps } = testApp({ takesCoins: () => takesCoins })
  const payments = async () => (await app.inject('/ai')).json().payments.website
  expect(await payments()).toEqual(['USDC'])
  takesCoins = true
  expect(await payments()).toEqual(['USDC', ...deps.site.acceptsCrypto])
})
