import type { Pool } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { openOnRecord } from '../../../test/fixtures/sample-checkouts.ts'
import {
  asked,
  expectWon,
  failed,
  fulfilled,
  fulfilling,
  orderOnRecord,
  paid,
  paymentFailed,
  pending,
  refunded,
  take,
  wayTo,
} from '../../../test/fixtures/sample-orders.ts'
import { entriesOf, type In, moves, type Order, type State } from '../../orders/order.ts'
import { book, overwrite, transaction } from './by-hand.fixture.ts'
import { createCheckoutStore } from './checkouts.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeAll(async () => {
  pool = await postgres.open()
})

const store = () => createOrderStore(pool)
const asking = () => fulfilling(paid(pending()))
const samples: Readonly<Record<State, () => Order>> = {
  PAYMENT_PENDING: () => pending(),
  PAYMENT_FAILED: () => paymentFailed(pending()),
  PAID: () => paid(pending()),
  FULFILLING: asking,
  FULFILLED: () => fulfilled(asking()),
  FULFILLMENT_FAILED: () => failed(asking()),
  EXPIRED: () => ({ ...failed(asking()), state: 'EXPIRED' }),
}
const states = Object.keys(samples) as State[]

/** Records an order through the store. */
const stored = (target: Order) => orderOnRecord(createOrderStore(pool), target)

/** Writes a version of an order with its ledger entries. */
async function write(order: Order, to: Order, versions = 1): Promise<void> {
  await transaction(pool, async (client) => {
    await overwrite(client, order, to, versions)
    await book(client, order, order.version + versions, entriesOf(order, to))
  })
}

function set(order: Order, assignments: string) {
  return pool.query(`update orders set version = version + 1, ${assignments} where id = $1`, [
    order.id,
  ])
}

describe('the database', () => {
  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const))

  it.each(pairs)('lets %s become %s only along the moves of an order', async (from, to) => {
    const order = await stored(samples[from]())
    const written = write(order, samples[to]())
    const legal = from === to || (moves[from] as readonly State[]).includes(to)
    if (legal) await written
    else await expect(written).rejects.toThrow(/cannot follow|decided to/)
  })

  it.each(states.filter((state) => state !== 'PAYMENT_PENDING'))(
    'lets no order begin as %s',
    async (state) => {
      const { id } = await stored(samples[state]())
      const copySql = `insert into orders select (jsonb_populate_record(orders, jsonb_build_object(
      'id', 'ord_copied', 'payment_id', 'pay_copied'))).* from orders where id = $1`
      await expect(pool.query(copySql, [id])).rejects.toThrow(`cannot begin as ${state}`)
    },
  )

  it('counts versions by one', async () => {
    const order = await stored(paid(pending()))
    await expect(write(order, order, 2)).rejects.toThrow('cannot follow')
    await expect(write(order, order, -1)).rejects.toThrow('cannot follow')
    await expect(write(order, asking(), 0)).rejects.toThrow('only its lease may change')
  })

  it('never takes a refund back', async () => {
    const done = refunded(failed(asking()))
    const order = await stored(done)
    await expect(write(order, failed(asking()))).rejects.toThrow('refunded, for good')
  })

  it.each([
    ['goods without a delivery decision', `delivery = 'goods'`, 'orders_goods_only_to_deliver'],
    ['a decision that is not the state', `outcome = 'DELIVER'`, 'orders_deliver_when_fulfilled'],
    ['a refund that is not the state', `outcome = 'REFUND'`, 'orders_refund'],
    ['a decision of another kind', `outcome = 'BOTH'`, 'orders_outcome_known'],
    ['a refund step without a refund', `refund_state = 'REFUND_PENDING'`, 'only_to_refund'],
    ['an unfinished order that is never due', 'due_at = null', 'orders_due_until_finished'],
    [
      'a document of another state',
      `doc = jsonb_set(doc, '{state}', '"PAID"')`,
      'orders_doc_agrees',
    ],
    ['a document without a state', `doc = doc - 'state'`, 'orders_doc_agrees'],
    ['another amount', 'amount = amount + 1', 'never changes'],
    ['another payer', `payer = '0x99'`, 'never changes'],
    [
      'another supplier',
      `doc = jsonb_set(doc, '{item,source,supplier}', '"acme"')`,
      'is bought never changes',
    ],
    ['no supplier', `doc = doc #- '{item,source}'`, 'is bought never changes'],
  ])('refuses %s', async (_, assignments, message) => {
    const order = await stored(pending())
    await expect(set(order, assignments)).rejects.toThrow(message)
  })

  it('refuses goods for an order that is paid back, and a refund without its transaction', async () => {
    const order = await stored(failed(asking()))
    await expect(set(order, `delivery = 'goods'`)).rejects.toThrow('only_to_deliver')
    await expect(set(order, `refund_state = 'REFUNDED'`)).rejects.toThrow('with_proof')
    await expect(set(order, `refund_state = null`)).rejects.toThrow('only_to_refund')
  })

  it.each([
    ...['ledger', 'checkout_ledger', 'payout_grants', 'refund_switch', 'hand_payouts'],
    ...['acknowledged_movements', 'store_wallets', 'order_ends'],
    ...['payments', 'order_events', 'checkout_events'],
  ])('never changes what was written into %s', async (table) => {
    const { rows } = await pool.query(
      `select column_name as name from information_schema.columns
       where table_name = $1 order by ordinal_position desc limit 1`,
      [table],
    )
    const update = `update ${table} set ${rows[0].name} = ${rows[0].name}`
    await expect(pool.query(update)).rejects.toThrow('keeps what was written')
  })

  it.each([
    ...['ledger', 'checkout_ledger', 'payout_grants', 'refund_switch', 'hand_payouts'],
    ...['acknowledged_movements', 'denylist_changes', 'store_wallets', 'goodwill'],
    ...['processor_payouts', 'payments', 'order_events', 'checkout_events', 'orders', 'checkouts'],
  ])('never deletes what was written into %s', async (table) => {
    await stored(pending())
    await openOnRecord(() => ({ store: createCheckoutStore(pool), orders: store() }))
    await expect(pool.query(`delete from ${table}`)).rejects.toThrow('keeps what was written')
  })

  it('lets nobody empty a table at once, but for the catalog, which is read anew', async () => {
    const { rows } = await pool.query(
      `select tablename as name from pg_tables where schemaname = 'public'
         and tablename not in ('catalog_snapshot', 'catalog_pages', 'schema_migrations') order by 1`,
    )
    expect(rows.length).toBeGreaterThan(25)
    for (const { name } of rows) {
      const emptied = pool.query(`truncate ${name} cascade`)
      await expect(emptied, name).rejects.toThrow('keeps what was written')
    }
  })
})

const at = (second: number) => new Date(Date.UTC(2026, 2, 1, 10, 1, second))

/** An order that the supplier is known to have accepted. */
function accepted(): In<'FULFILLING'> {
  return { ...asked(), askedAgainAt: at(1), acceptedAt: at(2) }
}

describe('what the supplier has accepted', () => {
  it.each<[string, (order: In<'FULFILLING'>) => Order]>([
    ['forgets it', ({ acceptedAt: _, ...order }) => order],
    ['says when it was in another way', (order) => ({ ...order, acceptedAt: at(9) })],
    ['forgets it at the end', ({ acceptedAt: _, ...order }) => fulfilled(order)],
    ['asks again', (order) => ({ ...order, askedAgainAt: at(9) })],
    [
      'takes silence for a no',
      (order) => ({
        ...failed(order),
        failure: { trigger: 'upstream_timeout', message: 'Nothing came.' },
      }),
    ],
  ])('refuses a move of an accepted order that %s', async (_, next) => {
    const order = accepted()
    const stored = await take(store(), wayTo(order))
    await expect(store().move(stored, next(order))).rejects.toThrow(
      /accepted it|silence is no answer|not asked again/,
    )
    expect(await store().find(order.id)).toEqual(stored)
  })

  it('lets an order that nobody accepted be asked for again, and be given up', async () => {
    const first = asked()
    const stored = await take(store(), wayTo(first))
    const again = { ...first, askedAgainAt: at(1) }
    const asking = expectWon(await store().move(stored, again))
    const failure = { trigger: 'upstream_timeout', message: 'Nothing came.' } as const
    const end: Order = { ...failed(again), failure, supply: { state: 'OPEN' } }
    const given = expectWon(await store().move(asking, end))
    // The supplier shows it after all; from then on the acceptance cannot be removed.
    const seen = expectWon(await store().move(given, { ...end, acceptedAt: at(2) }))
    await expect(store().move(seen, end)).rejects.toThrow('accepted it')
  })
})
