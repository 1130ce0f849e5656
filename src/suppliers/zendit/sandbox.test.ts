import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Supplier as Sandbox, startSupplier } from '../../../sandbox/supplier/server.ts'
import type { Recipient } from '../../catalog/offer.ts'
import type { Listing } from '../../catalog/ports.ts'
import type { Held, SupplierOrder } from '../supplier.ts'
import { createZenditClient, type ZenditClient } from './client.ts'
import { createZenditOffers } from './offers.ts'
import { createZenditSupplier } from './zendit.ts'

const apiKey = 'sandbox-key'
const { signal } = new AbortController()
let sandbox: Sandbox
let client: ZenditClient
let supplier: ReturnType<typeof createZenditSupplier>
let listing: Listing

beforeAll(async () => {
  sandbox = await startSupplier({ apiKey, stepMs: 5 })
  client = createZenditClient({ baseUrl: `${sandbox.url}/v1`, apiKey, timeoutMs: 60_000 })
  supplier = createZenditSupplier(client, () => new Date())
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
