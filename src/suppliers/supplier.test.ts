import { expect, test } from 'vitest'
import { orderWorld, type Script } from '../../test/doubles/orders.ts'
import { voucher } from '../../test/fixtures/offers.ts'
import type { Source } from '../catalog/offer.ts'
import { advance } from '../orders/advance.ts'
import type { Order } from '../orders/order.ts'
import { ada, expectOrder, purchaseWorld } from '../orders/purchase.fixture.ts'
import { type Supplier, type SupplierOrder, supplierRouter } from './supplier.ts'

/** A supplier with scripted answers, which records its calls. */
function scriptedSupplier(changes: Partial<Script> = {}) {
  const { supplier, script } = orderWorld(changes)
  const asked: string[] = []
  const placed: SupplierOrder[] = []
  const noting: Supplier = {
    ...supplier,
    place(order) {
      placed.push(order)
      return supplier.place(order)
    },
    lookup(kind, reference) {
      asked.push(`lookup ${reference}`)
      return supplier.lookup(kind, reference)
    },
    cancel(kind, reference, isRepeat) {
      asked.push(`cancel ${reference}`)
      return supplier.cancel(kind, reference, isRepeat)
    },
  }
  return { supplier: noting, script, asked, placed }
}

const acmeCard: Source = { supplier: 'acme', product: 'acme-7' }

/** A store that buys one card from Zendit and another from Acme, each with an offer of its own. */
function storeOfTwo(ofAcme: Partial<Script> = {}) {
  const zendit = scriptedSupplier()
  const acme = scriptedSupplier(ofAcme)
  const connected = new Map([
    ['zendit', zendit.supplier],
    ['acme', acme.supplier],
  ])
  const world = purchaseWorld({}, { suppliers: supplierRouter(connected) })
  world.putOnSale(voucher('CARD'), voucher('OTHER', { source: acmeCard }))
  const buyOf = async (offerId: string) =>
    expectOrder(await world.buy({ fields: { ...ada, offerId } })).order
  async function goOn(order: Order, ms: number): Promise<Order> {
    world.clock.pass(ms)
    const now = (await world.orders.find(order.id)) ?? order
    return advance(world.deps, now, 0)
  }
  return { ...world, zendit, acme, connected, buyOf, goOn }
}

const hour = 3_600_000
const pending: Partial<Script> = { held: { outcome: 'pending' } }

test('an order stays with its supplier, which takes late goods back, whatever the catalog says', async () => {
  const { zendit, acme, buyOf, goOn, putOnSale } = storeOfTwo(pending)
  const order = await buyOf('OTHER')
  expect(order.item).toMatchObject({ offerId: 'OTHER', source: acmeCard })
  expect(acme.placed.map(({ product }) => product)).toEqual(['acme-7'])
  putOnSale(voucher('CARD'), voucher('OTHER'))
  expect(await goOn(order, hour)).toMatchObject({ state: 'EXPIRED' })
  await goOn(order, 6 * hour)
  Object.assign(acme.script, { ...orderWorld().script, cancelled: { outcome: 'cancelled' } })
  expect(await goOn(order, hour)).toMatchObject({
    ...{ payout: { state: 'CONFIRMED' }, supply: { state: 'RETURNED' } },
  })
  expect(acme.asked.filter((one) => one.startsWith('cancel'))).toHaveLength(1)
  expect([zendit.placed, zendit.asked]).toEqual([[], []])
})

test('an order of a supplier that is not connected waits, and is paid back in the end', async () => {
  const { zendit, connected, buyOf, goOn } = storeOfTwo(pending)
  connected.delete('acme')
  const order = await buyOf('OTHER')
  expect(order.state).toBe('FULFILLING')
  expect(await goOn(order, hour)).toMatchObject({ state: 'EXPIRED' })
  expect(await goOn(order, 6 * hour)).toMatchObject({ payout: { state: 'CONFIRMED' } })
  expect([zendit.placed, zendit.asked]).toEqual([[], []])
  const missing = supplierRouter(connected).at({ supplier: 'acme' })
  expect(await missing.knowsIccid('8944500000000000017')).toBe('unknown')
})
