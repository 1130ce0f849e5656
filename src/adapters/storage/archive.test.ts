import fc from 'fast-check'
import type { Pool } from 'pg'
import { beforeEach, describe, expect, it, test } from 'vitest'
import { anyLife, isSigned } from '../../../test/contract/any-life.ts'
import { asked, orderOnRecord } from '../../../test/contract/order-store-nodes.ts'
import {
  failed,
  fulfilled,
  paid,
  paymentFailed,
  pending,
  refunded,
} from '../../../test/contract/sample-orders.ts'
import { endedLongAgo } from '../../../test/harness/many-orders.ts'
import type { OrderId } from '../../lib/ids.ts'
import { usdc } from '../../lib/money.ts'
import type { In, Order } from '../../orders/order.ts'
import { paymentKeyOf } from '../../payments/payment.ts'
import { createArchive } from './archive.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { orderFacts } from './order-facts.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payout-limits.ts'
import { createStoreRecord } from './store-record.ts'

const postgres = migratedPostgres()
let pool: Pool

beforeEach(async () => {
  await pool?.end()
  pool = await postgres.open()
})

const delivered = () => ({ ...fulfilled(asked()), settlement: 'FINAL' }) as const
const record = (order: Order) => orderOnRecord(createOrderStore(pool), order)
const sha256 = 'a'.repeat(64)
const soon = () => new Date(Date.now() + 60_000)

/** Archives all that may be archived. */
async function archiveAll(): Promise<OrderId[]> {
  const archive = createArchive(pool)
  const lines = []
  for await (const page of archive.lines(soon())) lines.push(...page)
  if (lines.length === 0) return []
  const file = `orders-${Date.now()}-${Math.random()}`
  const begun = await archive.begin({ file, sha256, orders: lines.length })
  expect(await archive.move(begun, lines)).toBe(lines.length)
  await archive.finish(begun)
  return lines.map(({ id }) => id as OrderId)
}

async function countOf(table: string): Promise<number> {
  const { rows } = await pool.query(`select count(*)::int as count from ${table}`)
  return rows[0].count
}

/** What reconciliation reads of the record, without the fields that an archived order no longer needs. */
async function bookKept() {
  const record = createStoreRecord(pool)
  const orders: Order[] = []
  for await (const page of record.orders()) orders.push(...page)
  const payers = [...new Set(orders.map(({ tender }) => tender.payer.toLowerCase()))]
  const refunds = orders.filter((order) => 'payout' in order && order.payout?.state === 'CONFIRMED')
  const ids = new Set(await record.idsOf(payers, 'decided'))
  return {
    ledger: await record.ledger('x402'),
    inCoins: await record.ledger('btcpay'),
    misbooked: await record.misbooked(),
    blocks: [await record.oldestBlock(), await record.newestBlock()],
    refundsKnown: refunds.every(({ id }) => ids.has(id)),
    byPayments: (await record.byPayments(orders.map(({ tender }) => paymentKeyOf(tender)))).length,
    orders: orders.map(essence),
    byIds: (await record.byIds(orders.map(({ id }) => id))).map(essence).sort(byId),
  }
}

const byId = (one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1)

/** The fields that are compared with the chain, the supplier and the processor. */
function essence(order: Order) {
  const { id, paymentId, state, amount, tender, placedAt, item } = order
  const paid = [tender.network, tender.asset, tender.payer.toLowerCase(), tender.nonce]
  const said: Record<string, unknown> = { ...order }
  const rest = ['receipt', 'settlement', 'deliveredAt', 'refund', 'supply']
  const kept = rest.map((name) => [name, said[name]])
  const { rail } = tender
  const payTo = tender.rail === 'x402' ? tender.payTo : undefined
  return { id, paymentId, state, amount, rail, payTo, paid, placedAt, kind: item.kind, kept }
}

test('after any lives, the books say the same before and after orders are archived', async () => {
  const store = createOrderStore(pool)
  const endless = usdc(10n ** 30n)
  const payoutLimits = createPayoutLimits(pool, { hour: endless, day: endless })
  const lives = fc.asyncProperty(anyLife(), async ([first, ...moves]) => {
    let { order } = await store.open(first as In<'PAYMENT_PENDING'>, [])
    for (const next of moves) {
      if (isSigned(next)) await payoutLimits.allow(order.id)
      order = (await store.move(order, { ...next, version: order.version })).record
    }
    await endedLongAgo(pool)
    const before = await bookKept()
    expect(before.misbooked).toEqual([])
    await archiveAll()
    expect(await bookKept()).toEqual(before)
    const { byState } = await orderFacts(pool)
    expect(Object.values(byState).reduce((sum, count) => sum + count, 0)).toBe(
      await countOf('orders'),
    )
  })
  await fc.assert(lives, { numRuns: 60 })
  // By chance a few lives may be on one side; none at all is no chance.
  expect(await countOf('archived_orders')).toBeGreaterThan(0)
  expect(await countOf('orders')).toBeGreaterThan(0)
})

test('what is archived keeps the supplier that it was bought from', async () => {
  const source = { supplier: 'acme', product: 'P' }
  const item = { ...pending().item, source }
  const [other, first] = [await record({ ...delivered(), item }), await record(delivered())]
  await endedLongAgo(pool)
  expect(await archiveAll()).toHaveLength(2)
  const suppliers = async ({ id }: Order) =>
    (await createStoreRecord(pool).byIds([id])).map((order) => order.item.source.supplier)
  expect([await suppliers(other), await suppliers(first)]).toEqual([['acme'], ['zendit']])
})

test('what is open, young, or may be asked for again stays, and so does what was paid in a coin without its checkout', async () => {
  const gone = [
    await record(delivered()),
    await record(refunded(failed(asked()))),
    await record(paymentFailed(pending())),
  ]
  await record(failed(asked()))
  await record(paid(pending()))
  const keyed = await record(delivered())
  const inCoin = await record(delivered())
  await endedLongAgo(pool)
  const personal = await record(delivered())
  const past = `update orders set finished_at = now() - interval '100 days' where id = $1`
  const rails = `update orders set doc = jsonb_set(jsonb_set(doc, '{tender,rail}', '"btcpay"'),
    '{receipt,rail}', '"btcpay"') where id = $1`
  await pool.query(
    'insert into idempotency_keys (payer, key, order_id, created_at) values ($1, $2, $3, now())',
    [keyed.tender.payer.toLowerCase(), 'a key', keyed.id],
  )
  await pastTheGuards(past, personal.id)
  await pastTheGuards(rails, inCoin.id)
  await record(delivered())
  const left = () => createArchive(pool).left(new Date(Date.now() - 90 * 86_400_000))
  expect(await left()).toBe(gone.length + 3)
  expect((await archiveAll()).sort()).toEqual(gone.map(({ id }) => id).sort())
  expect(await archiveAll()).toEqual([])
  expect(await left()).toBe(3)
})

async function pastTheGuards(sql: string, id: OrderId): Promise<void> {
  const client = await pool.connect()
  await client.query('set session_replication_role = replica')
  await client.query(sql, [id])
  client.release(true)
}

test('a line has the order with all that belongs to it', async () => {
  const { id, tender } = await record(refunded(failed(asked())))
  await endedLongAgo(pool)
  const tables = { order: 'orders', events: 'order_events', ledger: 'ledger' }
  const counts = Object.values(tables).map(countOf)
  for await (const [line] of createArchive(pool).lines(soon())) {
    if (line === undefined) continue
    const { order, payment, events, ledger, grant } = JSON.parse(line.text)
    expect(line).toMatchObject({ id, version: order.version })
    expect(line.month).toMatch(/^20\d\d-\d\d$/)
    expect(payment).toBe(paymentKeyOf(tender))
    expect([1, events.length, ledger.length]).toEqual(await Promise.all(counts))
    expect(grant).toBeNull()
  }
  expect.hasAssertions()
})

describe('an archived order', () => {
  let order: Order

  beforeEach(async () => {
    order = await record(delivered())
    await endedLongAgo(pool)
    await archiveAll()
  })

  it('is told to be archived to whoever asks for it by its id, its payment id or its transaction', async () => {
    const store = createOrderStore(pool)
    const { transaction } = (order as In<'FULFILLED'>).receipt
    const asks = [
      () => store.find(order.id),
      () => store.findByPaymentId(order.paymentId),
      () => store.findByTransaction(transaction.toUpperCase().replace('X', 'x')),
    ]
    for (const ask of asks) {
      await expect(ask()).rejects.toMatchObject({
        code: 'order_not_found',
        message: expect.stringContaining('archived'),
      })
    }
    expect(await store.findByTransaction(`0x${'9'.repeat(64)}`)).toBeUndefined()
  })

  it('keeps its payment, which opens no order again', async () => {
    const store = createOrderStore(pool)
    const again = { code: 'payment_reused', details: { charged: 'yes' } }
    await expect(store.findByPayment(paymentKeyOf(order.tender))).rejects.toMatchObject(again)
    const { tender } = order
    const first = pending()
    const same = { ...first, id: order.id, paymentId: order.paymentId, tender }
    const other = { ...first, tender }
    for (const opened of [same, other]) {
      await expect(store.open(opened as In<'PAYMENT_PENDING'>, [])).rejects.toMatchObject(again)
    }
    expect(await countOf('orders')).toBe(0)
  })

  it('lets an eSIM that it delivered be recharged', async () => {
    const withEsim = await record({ ...delivered(), iccidDigest: 'digest' })
    await endedLongAgo(pool)
    await archiveAll()
    const bought = (digest: string) =>
      createOrderStore(pool).boughtIccid(withEsim.tender.payer, digest)
    expect([await bought('digest'), await bought('another')]).toEqual([true, false])
  })

  it.each([
    'update archived_orders set amount = 1',
    'delete from archived_orders',
    'truncate archived_orders',
    'delete from archives',
    'truncate archives cascade',
    'delete from payments',
  ])('is kept: %s is refused', async (sql) => {
    await expect(pool.query(sql)).rejects.toThrow('keeps what was written')
  })

  it('has a file that never becomes another', async () => {
    for (const changed of ["sha256 = repeat('b', 64)", "file = 'x'", 'done_at = null']) {
      await expect(pool.query(`update archives set ${changed}`)).rejects.toThrow('never changes')
    }
    await expect(
      pool.query(`insert into archived_orders (id, archive) select $1, id from archives`, [
        order.id,
      ]),
    ).rejects.toThrow('may not be archived')
  })
})

describe('nothing is taken out of the tables', () => {
  const into = `insert into archives (file, sha256, orders) values ('f', '${sha256}', 1) returning id`

  async function openArchive(): Promise<string> {
    return (await pool.query(into)).rows[0].id
  }

  it.each([
    ['that is still owed', () => failed(asked())],
    ['that was paid a moment ago', () => delivered()],
  ])('%s', async (_, made) => {
    const { id, version } = await record(made())
    const archive = await openArchive()
    const moved = await pool.query('select move_to_archive($1, $2, $3) as moved', [
      archive,
      [id],
      [version],
    ])
    expect(moved.rows).toEqual([{ moved: 0 }])
    await expect(
      pool.query('insert into archived_orders (id, archive) values ($1, $2)', [id, archive]),
    ).rejects.toThrow('may not be archived')
    for (const table of ['ledger', 'order_events', 'orders']) {
      await expect(pool.query(`delete from ${table}`)).rejects.toThrow('keeps what was written')
    }
  })

  it('that is not archived whole, or was changed since it was written', async () => {
    const { id, version } = await record(delivered())
    await endedLongAgo(pool)
    const archive = await openArchive()
    const insert = 'insert into archived_orders (id, archive) values ($1, $2)'
    await expect(pool.query(insert, [id, archive])).rejects.toThrow('archived in part')
    const files = createArchive(pool)
    const [begun] = await files.unfinished()
    const lines = [{ id, version: version - 1 }]
    expect(begun && (await files.move(begun, lines))).toBe(0)
    expect(await countOf('archived_orders')).toBe(0)
    if (begun) await files.finish(begun)
    await expect(pool.query(insert, [id, archive])).rejects.toThrow('its archive is closed')
  })

  it('has books that a changed row contradicts', async () => {
    const { id } = await record(delivered())
    await endedLongAgo(pool)
    await archiveAll()
    await pool.query(`begin; set local session_replication_role = replica;
      update archived_orders set account = 'refunded'; commit`)
    expect(await createStoreRecord(pool).misbooked()).toMatchObject([{ order: id }])
  })
})
