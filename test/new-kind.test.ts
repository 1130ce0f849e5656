import { afterAll, describe, expect, test, vi } from 'vitest'
import * as z from 'zod'
import type { KindDefinition } from '../src/catalog/kinds/kind.ts'
import type { OfferBase } from '../src/catalog/offer.ts'
import type { Held } from '../src/suppliers/supplier.ts'

interface GameOffer extends OfferBase {
  readonly kind: 'game'
  readonly platform: string
}

// Files share their modules: what knows the kinds is loaded anew for this one, and again behind it.
vi.resetModules()
afterAll(() => {
  vi.doUnmock('../src/catalog/kinds.ts')
  vi.resetModules()
})

/** A kind as a contributor adds it: this object, and its line in `catalog/kinds.ts`. */
vi.doMock('../src/catalog/kinds.ts', async (original) => {
  const { defineSearch } = await import('../src/catalog/search/offer-search.ts')
  const { searchText } = await import('../src/catalog/search/params.ts')
  const recipient = z.strictObject({
    account: z
      .string()
      .regex(/^[a-z]{3,20}$/)
      .describe('The account that plays'),
  })
  const find = (maxLimit: number) =>
    defineSearch({
      plural: 'games',
      maxLimit,
      query: { title: searchText },
      filtersOf: ({ title }) => ({ text: title }),
    })
  const game = {
    kind: 'game',
    plural: 'games',
    words: {
      noun: 'game key',
      many: 'game keys',
      article: 'a',
      about: 'Keys of games.',
      found: 'keys of games',
      asked: 'game key, game keys',
      purchase: 'Purchase a game key',
      buys: 'Buys the key of a game.',
      asks: '`account`, the account that plays.',
      search: 'Game keys on sale.',
      searchAnswer: 'A page of game keys',
      browse: 'Game keys with exact prices.',
      otherReceiver: 'The account is none of them.',
      noReceiver: 'Name one of them in account.',
      tags: ['game'],
    },
    recipient,
    fields: {
      account: {
        form: 'must be 3 to 20 small letters',
        otherNames: ['player'],
        meantBy: (text: string) => text.toLowerCase(),
        example: () => 'ada',
      },
    },
    receiver: 'account',
    requiredFields: (_: GameOffer) => ['account'],
    recipientOf: (_: GameOffer, told: z.infer<typeof recipient>) => told,
    takesValue: false,
    isCredited: false,
    delivery: z.object({ kind: z.literal('game'), key: z.string() }),
    resultOf: (delivery) => delivery,
    faceValueOf: () => undefined,
    inWords: ({ brandName }) => `a ${brandName} game key`,
    indexed: ({ platform }: GameOffer) => ({
      texts: [platform],
      categories: [],
      covers: [],
      durationDays: undefined,
      dataGb: undefined,
      isMultiCountry: false,
    }),
    isByCoverage: false,
    subTypes: [],
    lists: ['brands'],
    search: find(50),
    browse: find(100),
    capabilitiesIn: (sold) => ({ brands: sold.values('brandName') }),
    published: {
      name: 'GameKey',
      discovery: { platform: z.string() },
      catalog: {},
      detail: {},
      goods: {},
      capabilities: { brands: z.array(z.string()) },
    },
    vat: { treatment: 'multi_purpose_voucher', place: 'redemption' },
    refund: 'none',
    refundRule: 'Refunded in full if no key is issued.',
  } satisfies KindDefinition<GameOffer>
  const { goods } = await original<typeof import('../src/catalog/kinds.ts')>()
  return { goods: { ...goods, game } }
})

const { operations } = await import('../src/api/operations.ts')
const { createLiveCatalog } = await import('../src/catalog/catalog.ts')
const { search } = await import('../src/mcp/tools/search.ts')
const { expectPaymentRequired, purchaseWorld, refusalOf } = await import(
  '../src/orders/purchase.fixture.ts'
)
const { problem } = await import('../src/api/refusals.ts')
const { testApp } = await import('./fixtures/app.ts')
const { catalogOf } = await import('./fixtures/catalog.ts')
const { fixed, fixturePricing, shopOffers, voucher } = await import('./fixtures/offers.ts')

type Offer = (typeof shopOffers)[number]

const base = voucher('CHESS', { brand: 'CHESS', brandName: 'Chess', price: fixed(900) })
const chess = { ...base, kind: 'game', platform: 'Console' } as unknown as Offer
const kind = 'game' as Offer['kind']

describe('a kind that is one object and one line', () => {
  const offers = [...shopOffers, chess]
  const liveCatalog = createLiveCatalog(catalogOf(offers, fixturePricing()))
  const { app, deps } = testApp({ liveCatalog })
  const get = async (url: string) => (await app.inject(url)).json()

  test('has its paths, its list and its place in the index', async () => {
    expect((await get('/ai')).catalogs.games).toBe('/ai/games')
    expect((await get('/ai/capabilities')).games).toEqual({
      brands: ['Chess'],
      query_url: '/ai/games',
    })
    expect((await get('/api/catalog/games/brands')).items).toMatchObject([{ brandName: 'Chess' }])
    expect(operations.map(({ id }) => id)).toEqual(
      expect.arrayContaining(['searchGames', 'browseGames', 'gameOffer', 'purchaseGame']),
    )
  })

  test('is found, listed and shown with its own fields and its price', async () => {
    const found = await get('/ai/games?title=console')
    expect(found).toMatchObject({ total: 1, items: [{ offerId: 'CHESS', platform: 'Console' }] })
    expect((await get('/ai/games?title=chess+poker')).hint).toMatchObject({ nearest: 'chess' })
    expect((await get('/api/catalog/games/offers')).items).toMatchObject([
      { kind: 'game', usdc: { amount: '9000000' }, requiredFields: ['account'] },
    ])
    expect(await get('/api/catalog/games/offers/CHESS')).toMatchObject({
      refundRule: 'Refunded in full if no key is issued.',
      purchase: { bodySchema: { required: ['offerId', 'account'] } },
    })
  })

  test('is searched by the tool for models, which says so', async () => {
    expect(search.description).toContain('keys of games (game)')
    const call = { args: { kind: 'game', maxUsdc: 9 } } as unknown as Parameters<
      typeof search.run
    >[0]
    const said = await search.run(call, { reading: deps } as unknown as Parameters<
      typeof search.run
    >[1])
    expect(said).toMatchObject({ body: { total: 1 } })
  })

  test('is priced, paid and delivered, and its body is read against its own fields', async () => {
    const delivery = { kind: 'game', key: 'AAAA-BBBB' }
    const world = purchaseWorld({ held: { outcome: 'delivered', delivery } as unknown as Held })
    world.putOnSale(chess)
    const requested = (fields: object) => ({ kind, fields: { offerId: 'CHESS', ...fields } })
    const ask = (fields: object) => world.ask(requested(fields))
    const { accepts } = expectPaymentRequired(await ask({ account: 'ada' }))
    expect(accepts[0].amount).toBe('9000000')
    const bought = await world.buy(requested({ account: 'ada' }))
    expect(bought).toMatchObject({ type: 'order', order: { state: 'FULFILLED' } })
    const refusal = await refusalOf(ask({ account: 'ADA', player: 'ada', value: 5 }))
    const { errors } = problem(refusal, { siteUrl: '', requestId: '', charged: undefined })
    expect(errors).toEqual([
      {
        parameter: 'account',
        message: 'must be 3 to 20 small letters; did you mean ada?',
        didYouMean: 'ada',
      },
      { parameter: 'value', message: 'is only for open-value (RANGE) offers' },
      {
        parameter: 'player',
        message: 'is not a field of this purchase; did you mean account?',
        didYouMean: 'account',
      },
    ])
  })
})
