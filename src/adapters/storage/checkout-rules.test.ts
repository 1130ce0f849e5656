import type { Pool, PoolClient } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  moveOn,
  openOnRecord,
  placedOnRecord,
} from '../../../test/contract/checkout-store-nodes.ts'
import {
  closed,
  ended,
  opened,
  opening,
  ordered,
  orderOf,
  payment,
  refundTo,
  returning,
  stepping,
} from '../../../test/contract/sample-checkouts.ts'
import {
  failed,
  fulfilling,
  newHash,
  newX402Payment,
  pending,
} from '../../../test/contract/sample-orders.ts'
import { returnReference } from '../../checkouts/checkout.ts'
import { usdc } from '../../lib/money.ts'
import type { In, Order } from '../../orders/order.ts'
import type { Moved } from '../../orders/workflow.ts'
import type { PaidInvoice } from '../../payments/payment.ts'
import { breakingOnce } from './breaking.fixture.ts'
import { createCheckoutStore } from './checkouts.ts'
import { exposureOf } from './facts.ts'
import { createLimitStore } from './limits.ts'
import { migratedPostgres } from './migrated.fixture.ts'
import { createOrderStore } from './orders.ts'
import { createPayoutLimits } from './payouts.ts'

const postgres = migratedPostgres()
let pool: Pool
const caps = { hour: usdc(10n ** 50n), day: usdc(10n ** 50n) }

beforeAll(async () => {
  pool = await postgres.open()
})
const store = () => createCheckoutStore(pool)
const orders = () => createOrderStore(pool)
const records = () => ({ store: store(), orders: orders() })

describe('a hand on the console', () => {
  it.each([
    'delete from checkouts',
    'truncate checkouts cascade',
    'update checkout_events set at = now()',
    'delete from checkout_events',
    'update checkout_ledger set units = units + 1',
    'delete from checkout_ledger',
    'truncate checkout_ledger',
    `update hand_payouts set transaction_hash = 'x'`,
    'delete from hand_payouts',
  ])('cannot: %s', async (sql) => {
    await placedOnRecord(records)
    await pool.query(`insert into hand_payouts values
      ('one', 'XMR', 1, 'address', 'hash', 'ada', now()) on conflict do nothing`)
    await expect(pool.query(sql)).rejects.toThrow('keeps what was written')
  })

  it.each([
    [`coin = 'XMR'`, 'only its lease'],
    [`version = version + 2`, 'version 4 cannot follow 2'],
    [`version = version + 1, amount = amount + 1`, 'what was wanted never changes'],
    [`version = version + 1, recipient = 'other'`, 'what was wanted never changes'],
    [`version = version + 1, refund_to = 'thief'`, 'what was wanted never changes'],
    [`version = version + 1, state = 'ENDED'`, 'checkouts_doc_agrees'],
    [`version = version + 1, doc = doc - 'invoice'`, 'its invoice never changes'],
    [`version = version + 1, due_at = null`, 'checkouts_due_until_finished'],
    [
      `version = version + 1, doc = doc || '{"price": {"$bigint": "1"}, "isPlaced": false}'`,
      /price_of_an_order|price is more than came/,
    ],
    [`version = version + 1, due_at = null, finished_at = now()`, 'nothing is decided yet'],
  ])('cannot set %s', async (assignments, reason) => {
    const { id } = await openOnRecord(records)
    const sql = `update checkouts set ${assignments} where id = $1`
    await expect(pool.query(sql, [id])).rejects.toThrow(reason)
  })

  it('cannot begin a checkout at its end', async () => {
    const { id } = await openOnRecord(records)
    const sql = `insert into checkouts select (jsonb_populate_record(checkouts,
      '{"id": "chk_by_hand", "order_id": "ord_by_hand", "form_key": "x"}')).*
      from checkouts where id = $1`
    await expect(pool.query(sql, [id])).rejects.toThrow('begins as OPENING')
  })

  it('cannot give an erased address back', async () => {
    const open = await openOnRecord(records)
    await moveOn(records, open, closed(ended(open)))
    await store().erasePersonal(new Date(Date.now() + 60_000))
    const sql = 'update checkouts set version = version + 1, refund_to = $2 where id = $1'
    await expect(pool.query(sql, [open.id, refundTo])).rejects.toThrow('closed, for good')
  })
})

async function refusedAtCommit(work: (client: PoolClient) => Promise<unknown>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('begin')
    await work(client)
    await expect(client.query('commit')).rejects.toThrow('its ledger says')
  } finally {
    client.release(true)
  }
}

describe('the books of a checkout', () => {
  const booked = async (id: string) => {
    const { rows } = await pool.query<{ account: string; sum: string }>(
      `select account, sum(units)::text as sum from checkout_ledger where checkout_id = $1
       group by account having sum(units) <> 0 order by account`,
      [id],
    )
    return Object.fromEntries(rows.map(({ account, sum }) => [account, BigInt(sum)]))
  }

  it('follow its money', async () => {
    const open = await openOnRecord(records)
    const part = { ...open, invoice: { ...open.invoice, payments: [payment(100n)] } }
    const seen = await moveOn(records, open, part)
    expect(await booked(open.id)).toEqual({ received: 100n, due: -100n })
    const due = await moveOn(records, seen, returning(ended(seen, part.invoice.payments), 70n))
    await createPayoutLimits(pool, caps).allow(returnReference(open.id, 1))
    const sending = await moveOn(records, due, stepping(due, 'APPROVED'))
    const sent = await moveOn(records, sending, stepping(sending, 'CONFIRMED'))
    expect(await booked(open.id)).toEqual({ received: 100n, due: -30n, returned: -70n })
    await moveOn(records, sent, closed(sent))
    expect(await booked(open.id)).toEqual({ received: 100n, kept: -30n, returned: -70n })
  })

  it('take no entry that no move made, and no move without its entries', async () => {
    const open = await openOnRecord(records)
    await refusedAtCommit((client) =>
      client.query(`insert into checkout_ledger values ($1, 9, 'received', 1, now())`, [open.id]),
    )
    await refusedAtCommit((client) => {
      const payments = `[{"id": "p", "status": "SETTLED", "units": {"$bigint": "5"}}]`
      return client.query(
        `update checkouts set version = version + 1,
           doc = jsonb_set(doc, '{invoice,payments}', $2) where id = $1`,
        [open.id, payments],
      )
    })
  })
})

/** A recorded order that was paid through an invoice and given up; its refund is due. */
async function givenUp(): Promise<In<'FULFILLMENT_FAILED'>> {
  const { orderId } = await placedOnRecord(records)
  const first = (await orders().find(orderId)) as In<'PAYMENT_PENDING'>
  const receipt = { rail: 'btcpay', transaction: 'c'.repeat(64) } as const
  const at = new Date()
  const settled = { receipt, settlement: 'FINAL', paidAt: at, deliverBy: at } as const
  const paid: In<'PAID'> = { ...first, state: 'PAID', ...settled }
  let latest: Moved<Order> = await orders().move(first, paid)
  latest = await orders().move(latest.record, fulfilling(paid))
  const target = failed(fulfilling(paid))
  latest = await orders().move(latest.record, target)
  return { ...target, version: latest.record.version }
}

describe('an order of an invoice', () => {
  it('is kept only where a checkout has decided that the invoice pays it', async () => {
    const open = await openOnRecord(records)
    const paid = ordered(open)
    await expect(orders().open(orderOf(paid), [])).rejects.toThrow('no checkout has decided')
    await moveOn(records, open, paid)
    const order = orderOf(paid)
    const tender = order.tender as PaidInvoice
    const wrongs: readonly Partial<PaidInvoice>[] = [
      { units: tender.units - 1n },
      { amount: usdc(1n) },
      { payer: 'BTC:bc1qThief' },
      { invoice: 'another' },
      { asset: 'LTC' },
    ]
    for (const wrong of wrongs) {
      const other = { ...order, tender: { ...tender, ...wrong } }
      await expect(orders().open(other, [])).rejects.toThrow('its checkout decided on')
    }
    const stranger = { ...order, tender: { ...tender, nonce: opening().id } }
    await expect(orders().open(stranger, [])).rejects.toThrow('no checkout has decided')
    const cheap = { ...order, amount: usdc(1n) }
    await expect(orders().open(cheap, [])).rejects.toThrow('its checkout decided on')
    expect((await orders().open(order, [])).isNew).toBe(true)
    expect((await orders().open(order, [])).isNew).toBe(false)
  })

  it('never changes what paid it, and has the receipt of its own rail', async () => {
    const { orderId } = await placedOnRecord(records)
    const order = (await orders().find(orderId)) as In<'PAYMENT_PENDING'>
    const at = new Date()
    const settled = { settlement: 'FINAL', paidAt: at, deliverBy: at } as const
    const onChain = { rail: 'x402', transaction: newHash(), block: 7 } as const
    const wrong: In<'PAID'> = { ...order, state: 'PAID', ...settled, receipt: onChain }
    await expect(orders().move(order, wrong)).rejects.toThrow('orders_receipt_of_its_rail')
    const foreign = { ...newX402Payment(), rail: 'cash' } as unknown as PaidInvoice
    const strange = pending({ tender: foreign })
    await expect(orders().open(strange, [])).rejects.toThrow('orders_rail_known')
    const plain = pending()
    await orders().open(plain, [])
    const nowhere = { rail: 'x402', transaction: newHash() } as unknown as typeof onChain
    const blockless: In<'PAID'> = { ...plain, state: 'PAID', ...settled, receipt: nowhere }
    await expect(orders().move(plain, blockless)).rejects.toThrow('orders_block_of_a_receipt')
    const receipt = { rail: 'btcpay', transaction: newHash() } as const
    const dearer = { ...(order.tender as PaidInvoice), units: 1n }
    const paid: In<'PAID'> = { ...order, state: 'PAID', ...settled, receipt }
    await expect(orders().move(order, { ...paid, tender: dearer })).rejects.toThrow('never changes')
    expect((await orders().move(order, paid)).won).toBe(true)
    expect(await orders().findByTransaction(receipt.transaction)).toMatchObject({ id: orderId })
  })

  it('goes back in the coin it was paid in, in the units that were paid', async () => {
    const order = await givenUp()
    await createPayoutLimits(pool, caps).allow(order.id)
    const { payer: to, amount, units, invoice, network } = order.tender as PaidInvoice
    const named = { invoice, network, reference: order.id }
    const right = { rail: 'btcpay', to, amount, units, ...named } as const
    const sign = (signed: typeof right | object) =>
      orders().move(order, {
        ...order,
        payout: { state: 'APPROVED', signed: signed as typeof right },
      })
    await expect(sign({ ...right, units: units + 1n })).rejects.toThrow('that the payment came')
    await expect(sign({ ...right, rail: 'x402' })).rejects.toThrow('that the payment came')
    await expect(sign({ ...right, to: 'BTC:bc1qThief' })).rejects.toThrow('goes to the payer')
    expect((await sign(right)).won).toBe(true)
  })

  it('may be booked as paid back by whoever finds that it was', async () => {
    const order = await givenUp()
    const payout = { state: 'CONFIRMED', transaction: newHash(), confirmedAt: new Date() } as const
    expect((await orders().move(order, { ...order, payout })).won).toBe(true)
  })

  it('is no exposure of the refund wallet, which pays USDC alone', async () => {
    const before = await exposureOf(pool)
    await givenUp()
    expect(await exposureOf(pool)).toBe(before)
  })

  it('meets no limits, for its payer is no wallet', async () => {
    const wallet = newX402Payment().payer
    const rules = { perOrder: usdc(0n) }
    await createLimitStore(pool).replace(wallet, undefined, { inForce: rules })
    const first = opening({ coin: 'ETH', refundTo: wallet })
    const { checkout } = await store().open(first)
    const open = await moveOn(records, checkout, opened(first))
    const paid = await moveOn(records, open, ordered(open))
    expect((await orders().open(orderOf(paid), [])).isNew).toBe(true)
    await createLimitStore(pool).replace(
      wallet,
      await createLimitStore(pool).find(wallet),
      undefined,
    )
  })
})

describe('a write whose answer is lost', () => {
  const breaking = (when: 'before' | 'after') => createCheckoutStore(breakingOnce(pool, when))

  it('opens a checkout if it was committed, and is an error if not', async () => {
    const checkout = opening()
    await expect(breaking('before').open(checkout)).rejects.toThrow('terminated')
    expect(await store().find(checkout.id)).toBeUndefined()
    expect(await breaking('after').open(checkout)).toEqual({ isNew: true, checkout })
    expect(await breaking('before').open(checkout)).toEqual({ isNew: false, checkout })
  })

  it('wins a move if it was committed, and is an error while nothing changed', async () => {
    const open = await openOnRecord(records)
    await expect(breaking('before').move(open, ended(open))).rejects.toThrow('terminated')
    const moved = await breaking('after').move(open, ended(open))
    expect(moved).toMatchObject({ won: true, record: { state: 'ENDED', version: 3 } })
    expect(await breaking('before').move(open, ordered(open))).toEqual({ ...moved, won: false })
  })
})

it('keeps the personal fields in columns of their own, and out of the history', async () => {
  const open = await openOnRecord(records)
  await moveOn(records, open, returning(ended(open, [payment(9n)]), 9n))
  const { rows } = await pool.query(
    `select recipient, refund_to, doc::text, (select jsonb_agg(detail)::text from checkout_events
       where checkout_id = id) as history from checkouts where id = $1`,
    [open.id],
  )
  expect(rows[0]).toMatchObject({ recipient: open.recipient, refund_to: refundTo })
  for (const text of [rows[0].doc, rows[0].history]) {
    expect(text).not.toContain(open.recipient)
    expect(text).not.toContain(refundTo)
  }
  expect(rows[0].history).toContain(open.invoice.id)
})
