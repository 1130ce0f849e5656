import type { Pool } from 'pg'
import { beforeEach } from 'vitest'
import { expectWon, wayTo } from '../../test/fixtures/sample-orders.ts'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { migratedPostgres } from '../adapters/storage/migrated.fixture.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import type { Recipient } from '../catalog/offer.ts'
import { foundBy } from '../orders/finding.ts'
import type { Order } from '../orders/order.ts'
import { createDigest, createVault } from '../secrets/secrets.ts'
import type { Operator } from './operator.ts'

export const key = Buffer.alloc(32, 7)

/** What a store with this key derives from it for its orders. */
export const storeDigests = {
  digest: createDigest([key], 'orders'),
  codes: createDigest([key], 'recovery-code'),
  requestId: () => requestId,
}

export const requestId = '0b9c6a1e-33b4-4cde-9a55-5d3c1f2b7a10'
export const topup: Recipient = { kind: 'topup', msisdn: '+4915123456789' }

/** Anna, who works on the new database of each test. */
export function operatorOnDatabase() {
  const postgres = migratedPostgres()
  let database: Pool
  beforeEach(async () => {
    database = await postgres.open()
    return () => database.end()
  })
  const orders = () => createOrderStore(database)
  const vault = createVault([key])
  const checkouts = () => createCheckoutStore(database)
  return {
    database: () => database,
    orders,
    checkouts,
    /** Puts an order for this person on record, up to this state. */
    async place(target: Order, person: Recipient = topup) {
      const { id } = target
      const recipient = vault.seal(person, { order: id, field: 'recipient' })
      const [first, ...rest] = wayTo({ ...target, recipient })
      if (first?.state !== 'PAYMENT_PENDING') throw new Error('An order begins with its payment')
      let order = (await orders().open(first, [], { foundBy: foundBy(storeDigests, id, person) }))
        .order
      for (const next of rest) order = expectWon(await orders().move(order, next))
      return order
    },
    records: () => ({ store: checkouts(), orders: orders() }),
    anna: (secretsKeys = [key]): Operator => ({
      config: {
        site: { url: 'https://kiosk.example', name: 'Kiosk', contact: 'help@kiosk.example' },
        secretsKeys,
      } as never,
      ...{ database, by: 'anna', now: () => new Date('2026-03-02T10:00:00Z') },
    }),
  }
}
