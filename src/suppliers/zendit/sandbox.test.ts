import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Supplier as Sandbox, startSupplier } from '../../../sandbox/supplier/server.ts'
import { createFrankfurter } from '../../adapters/rates/frankfurter.ts'
import { createLiveCatalog } from '../../catalog/catalog.ts'
import { type Recipient, kinds as storeKinds } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import type { Listing } from '../../catalog/ports.ts'
import { lowestCharge, retailOf } from '../../catalog/pricing.ts'
import { refreshCatalog } from '../../catalog/refresh.ts'
import type { SearchIndex } from '../../catalog/search/search-index.ts'
import { inTurn } from '../../lib/in-turn.ts'
import type { Held, SupplierOrder } from '../supplier.ts'
import { createZenditClient, type ZenditClient } from './client.ts'
import { createZenditOffers } from './offers.ts'
import { createZenditSupplier } from './zendit.ts'

const apiKey = 'sandbox-key'
let sandbox: Sandbox
let client: ZenditClient
let supplier: ReturnType<typeof createZenditSupplier>
let listing: Listing

beforeAll(async () => {
  sandbox = await startSupplier({ apiKey, stepMs: 5 })
  client = createZenditClient({ baseUrl: `${sandbox.url}/v1`, apiKey, timeoutMs: 60_000 })
  supplier = createZenditSupplier(client, () => new Date())
  const { signal } = new AbortController()
  listing = await createZenditOffers(client).list(signal)
})
afterAll(() => sandbox.stop())

it('loads its twelve thousand offers, all kinds, the flawed ones rejected', async () => {
  const flawed = Object.values(listing.rejected).reduce((sum, count) => sum + count, 0)
  expect(listing.offers.length + flawed).toBe(12_000)
  expect(flawed).toBeGreaterThan(0)
  expect(flawed).toBeLessThan(200)
  for (const kind of ['voucher', 'topup', 'esim']) {
    expect(listing.offers.filter((offer) => offer.kind === kind).length).toBeGreaterThan(500)
  }
  const described = listing.offers.find((offer) => offer.kind === 'voucher' && offer.description)
  expect(described).toMatchObject({ image: expect.stringMatching(/^https?:/) })
})

const { signal } = new AbortController()

let known: ReturnType<typeof shelve> | undefined
function shelved() {
  known ??= shelve()
  return known
}

async function shelve() {
  const url = `${sandbox.url}/rates/v1/latest`
  const table = await createFrankfurter({ url, timeoutMs: 60_000 }).latest(signal)
  const now = () => new Date()
  const pricing = { markupBps: 0, rates: () => table, readAt: now, now }
  const liveCatalog = createLiveCatalog()
  await refreshCatalog({
    sources: new Map([['zendit', { list: async () => listing }]]),
    inTurn: inTurn(),
    snapshots: { save: async () => undefined, load: async () => undefined },
    pricing,
    liveCatalog,
    now,
    signal,
  })
  return { liveCatalog, pricing }
}

const offersIn = (index: SearchIndex) => index.search({}, { offset: 0, limit: index.size }).offers

it.each(storeKinds)('asks for no %s less than the supplier charges', async (kind) => {
  const { liveCatalog, pricing } = await shelved()
  const { perUsd } = pricing.rates()
  const index = liveCatalog.current().sold[kind]
  for (const offer of offersIn(index)) {
    const { currency, divisor, min } = offer.cost
    const charged = min / divisor / (currency === 'USD' ? 1 : (perUsd[currency] as number))
    const least = Number(lowestCharge(offer, pricing)) / 1e6
    expect(least + 1e-9, offer.id).toBeGreaterThanOrEqual(charged)
  }
})

it.each([
  ['VOUCHERS', 'KEEP-COST-FEES', { cents: 1040, by: 'cost' }],
  ['TOPUPS', 'KEEP-COST-FEES', { cents: 1040, by: 'cost' }],
  ['ESIM', 'KEEP-COST-FEES', { cents: 1040, by: 'cost' }],
  ['VOUCHERS', 'KEEP-COST-EUR', { cents: 1042, by: 'cost' }],
  ['ESIM', 'KEEP-COST-EUR', { cents: 1042, by: 'cost' }],
  ['VOUCHERS', 'KEEP-PRICE-JPY', { by: 'cost' }],
  ['VOUCHERS', 'KEEP-PRICE-KWD', { code: 'rate_missing' }],
  ['VOUCHERS', 'KEEP-RANGE-OFF-STEP', { max: 10_000, lowest: 535, highest: 10_000 }],
  ['VOUCHERS', 'KEEP-RANGE-DEAR', { lowest: 600, highest: 60_000 }],
  ['ESIM', 'OPEN-VALUE', { code: 'open_value_kind' }],
])('of its flawed %s, prices %s by what is charged', async (family, id, retail) => {
  const { liveCatalog, pricing } = await shelved()
  const { ids } = liveCatalog.current()
  expect(retailOf(ids.find(`DIRTY-${family}-${id}`) as Offer, pricing)).toMatchObject(retail)
  expect(ids.find(`DIRTY-${family}-NO-COST`)).toBeUndefined()
})

it('reads a list that moves under its hands again, and loses none of it', async () => {
  const setFault = (fault: object) =>
    fetch(`${sandbox.url}/_admin/faults`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    })
  const idsOf = (list: Listing) => list.offers.map(({ id }) => id).sort()
  await setFault({ mode: 'shift', reads: 1 })
  try {
    const again = await createZenditOffers(client).list(signal)
    expect(idsOf(again)).toEqual(idsOf(listing))
    await setFault({ mode: 'shift', reads: 2 })
    await expect(createZenditOffers(client).list(signal)).rejects.toThrow('moved while it was read')
  } finally {
    await setFault({ mode: 'ok' })
  }
})

function esimOrder(reference: string, iccid?: string): SupplierOrder {
  const recipient: Recipient = iccid === undefined ? { kind: 'esim' } : { kind: 'esim', iccid }
  const notAfter = new Date(Date.now() + 60_000)
  return { reference, kind: 'esim', product: 'TEST-ESIM-OK', recipient, isRepeat: false, notAfter }
}

/** Polls until the purchase is final, or the test times out. */
async function ended({ kind, reference }: SupplierOrder): Promise<Held> {
  for (;;) {
    const found = await supplier.lookup(kind, reference)
    if (found.outcome !== 'pending') return found
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

it('gives an eSIM back, recharges another, and knows its own', async () => {
  const order = esimOrder('ordtest1')
  await supplier.place(order)
  const found = await ended(order)
  if (found.outcome !== 'delivered' || found.delivery.kind !== 'esim') throw new Error('no eSIM')
  const { iccid } = found.delivery
  expect(await supplier.knowsIccid(iccid)).toBe('yes')
  expect(await supplier.knowsIccid('8901260862291230917')).toBe('no')

  const plan = esimOrder('ordtest2', iccid)
  expect(await supplier.place(plan)).toEqual({ outcome: 'held' })
  expect(await ended(plan)).toMatchObject({ outcome: 'delivered', delivery: { iccid } })

  expect(await supplier.cancel('esim', plan.reference, false)).toEqual({ outcome: 'pending' })
  await expect
    .poll(() => supplier.cancel('esim', plan.reference, true))
    .toEqual({ outcome: 'cancelled' })
  expect(await supplier.cancel('esim', plan.reference, true)).toEqual({ outcome: 'cancelled' })
})
