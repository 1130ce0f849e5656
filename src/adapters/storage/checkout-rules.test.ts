import type { Pool, PoolClient } from 'pg'
import { beforeAll, describe, expect, it } from 'vitest'
import { checkoutMoves, returnMoves } from '../../../test/doubles/checkout-rules.ts'
import {
  closed,
  ended,
  moveOn,
  opened,
  opening,
  openOnRecord,
  ordered,
  orderOf,
  payment,
  placedOnRecord,
  refundTo,
  refused,
  returning,
  stepping,
  takeCheckout,
  unitsOfPrice,
} from '../../../test/fixtures/sample-checkouts.ts'
import {
  failed,
  fulfilling,
  newHash,
  newX402Payment,
  pending,
} from '../../../test/fixtures/sample-orders.ts'
import {
  type Checkout,
  type CheckoutIn,
  type CheckoutState,
  type InvoicedCheckout,
  type Return,
  returnReference,
} from '../../checkouts/checkout.ts'
import { usdc } from '../../lib/money.ts'
import type { In, Order } from '../../orders/order.ts'
import type { PayoutState } from '../../orders/payout.ts'
import type { Moved } from '../../orders/workflow.ts'
import type { PaidInvoice } from '../../payments/payment.ts'
import { createCheckoutStore } from './checkouts.ts'
import { exposureOf } from './facts.ts'
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
    [`coin = 'XMR'`, 'only its lease'],
    [`version = version + 2`, 'version 4 cannot follow 2'],
    [`version = version + 1, amount = amount + 1`, 'what was wanted never changes'],
    ...['order_id', 'coin', 'recipient', 'refund_to'].map((column) => {
      return [`version = version + 1, ${column} = 'other'`, 'what was wanted never changes']
    }),
    [`version = version + 1, state = 'ENDED'`, 'checkouts_doc_agrees'],
    [`version = version + 1, doc = doc - 'invoice'`, 'its invoice never changes'],
    [`version = version + 1, due_at = null`, 'checkouts_due_until_finished'],
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
  const receipt = { method: 'btcpay', transaction: 'c'.repeat(64) } as const
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
    const payment = order.payment as PaidInvoice
    const wrongs: readonly Partial<PaidInvoice>[] = [
      { units: payment.units - 1n },
      { amount: usdc(1n) },
      { payer: 'BTC:bc1qThief' },
      { invoice: 'another' },
      { asset: 'LTC' },
    ]
    for (const wrong of wrongs) {
      const other = { ...order, payment: { ...payment, ...wrong } }
      await expect(orders().open(other, [])).rejects.toThrow('its checkout decided on')
    }
    const stranger = { ...order, payment: { ...payment, nonce: opening().id } }
    await expect(orders().open(stranger, [])).rejects.toThrow('no checkout has decided')
    const cheap = { ...order, amount: usdc(1n) }
    await expect(orders().open(cheap, [])).rejects.toThrow('its checkout decided on')
    expect((await orders().open(order, [])).isNew).toBe(true)
    expect((await orders().open(order, [])).isNew).toBe(false)
  })

  it('never changes what paid it, and has the receipt of its own method', async () => {
    const { orderId } = await placedOnRecord(records)
    const order = (await orders().find(orderId)) as In<'PAYMENT_PENDING'>
    const at = new Date()
    const settled = { settlement: 'FINAL', paidAt: at, deliverBy: at } as const
    const onChain = { method: 'x402', transaction: newHash(), block: 7 } as const
    const wrong: In<'PAID'> = { ...order, state: 'PAID', ...settled, receipt: onChain }
    await expect(orders().move(order, wrong)).rejects.toThrow('orders_receipt_of_its_method')
    const foreign = { ...newX402Payment(), method: 'cash' } as unknown as PaidInvoice
    const strange = pending({ payment: foreign })
    await expect(orders().open(strange, [])).rejects.toThrow('orders_method_known')
    const plain = pending()
    await orders().open(plain, [])
    const nowhere = { method: 'x402', transaction: newHash() } as unknown as typeof onChain
    const blockless: In<'PAID'> = { ...plain, state: 'PAID', ...settled, receipt: nowhere }
    await expect(orders().move(plain, blockless)).rejects.toThrow('orders_block_of_a_receipt')
    const receipt = { method: 'btcpay', transaction: newHash() } as const
    const dearer = { ...(order.payment as PaidInvoice), units: 1n }
    const paid: In<'PAID'> = { ...order, state: 'PAID', ...settled, receipt }
    await expect(orders().move(order, { ...paid, payment: dearer })).rejects.toThrow(
      'never changes',
    )
    expect((await orders().move(order, paid)).won).toBe(true)
    expect(await orders().findByTransaction(receipt.transaction)).toMatchObject({ id: orderId })
  })

  it('goes back in the coin it was paid in, in the units that were paid', async () => {
    const order = await givenUp()
    await createPayoutLimits(pool, caps).allow(order.id)
    const { payer: to, amount, units, invoice, network } = order.payment as PaidInvoice
    const named = { invoice, network, reference: order.id }
    const right = { method: 'btcpay', to, amount, units, ...named } as const
    const sign = (signed: typeof right | object) =>
      orders().move(order, {
        ...order,
        payout: { state: 'APPROVED', signed: signed as typeof right },
      })
    await expect(sign({ ...right, units: units + 1n })).rejects.toThrow('that the payment came')
    await expect(sign({ ...right, method: 'x402' })).rejects.toThrow('that the payment came')
    await expect(sign({ ...right, to: 'BTC:bc1qThief' })).rejects.toThrow('goes to the payer')
    expect((await sign(right)).won).toBe(true)
  })

  it('is no exposure of the refund wallet, which pays USDC alone', async () => {
    const before = await exposureOf(pool)
    await givenUp()
    expect(await exposureOf(pool)).toBe(before)
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

const states = Object.keys(checkoutMoves) as CheckoutState[]
const steps = Object.keys(returnMoves) as PayoutState[]

const refuses = async (from: Checkout, to: Checkout, reason: string | RegExp) => {
  await expect(store().move(from, to)).rejects.toThrow(reason)
  expect(await store().find(from.id)).toEqual(from)
}

describe('the rules of a checkout', () => {
  it('gives one invoice to one checkout', async () => {
    const open = await openOnRecord(records)
    const first = opening()
    await store().open(first)
    await refuses(first, opened(first, { id: open.invoice.id }), 'invoice_id')
  })

  it('finds a checkout by every address that it was shown with', async () => {
    const open = await openOnRecord(records)
    const { address } = open.invoice
    const second = `${address}Second`
    const invoice = { ...open.invoice, address: second, addresses: [address, second] }
    const moved = await moveOn(records, open, { ...open, invoice })
    for (const one of [address, second.toUpperCase()]) {
      expect(await store().holderOf('BTC', one)).toEqual(moved)
      expect(await store().findByAddress(one)).toEqual(moved)
    }
  })

  it('leaves an address to the checkout that it was shown for, until that is closed', async () => {
    const open = await openOnRecord(records)
    const { address } = open.invoice
    const [one, two] = [opening(), opening()]
    for (const each of [one, two]) await store().open(each)
    await refuses(one, opened(one, { address }), 'held_address')
    await refuses(one, opened(one, { address: address.toUpperCase() }), 'held_address')
    expect(await store().holderOf('BTC', address.toUpperCase())).toEqual(open)
    expect(await store().holderOf('LTC', address)).toBeUndefined()

    const over = await moveOn(records, open, ended(open))
    await refuses(one, opened(one, { address }), 'held_address')
    await moveOn(records, over, closed(over))
    expect(await store().holderOf('BTC', address)).toBeUndefined()
    const moved = await Promise.allSettled([
      store().move(one, opened(one, { address })),
      store().move(two, opened(two, { address })),
    ])
    expect(moved.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('does not close before it is decided, nor without the order that was paid', async () => {
    const open = await openOnRecord(records)
    await refuses(open, closed(open), 'nothing is decided yet')
    const paid = await moveOn(records, open, ordered(open))
    await refuses(paid, closed(paid), 'its order was not placed')
  })

  it('is placed only when its order is on record, and then for good', async () => {
    const open = await openOnRecord(records)
    const paid = await moveOn(records, open, ordered(open))
    await refuses(paid, { ...paid, isPlaced: true }, 'order is not on record')
    await orders().open(orderOf(paid), [])
    const placed = await moveOn(records, paid, { ...paid, isPlaced: true })
    await refuses(placed, { ...placed, isPlaced: false }, 'placed, for good')
  })
})

/** The checkouts on the way from opening to this state. */
function wayTo(state: CheckoutState): readonly Checkout[] {
  const first = opening()
  const open = opened(first)
  const ways: Record<CheckoutState, readonly Checkout[]> = {
    OPENING: [first],
    REFUSED: [first, refused(first)],
    OPEN: [first, open],
    ORDERED: [first, open, ordered(open)],
    ENDED: [first, open, ended(open)],
  }
  return ways[state]
}

describe('the life of a checkout', () => {
  const pairs = states.flatMap((from) => states.map((to) => [from, to] as const))

  it.each(pairs)('lets %s become %s only along the moves of a checkout', async (from, to) => {
    const stored = await takeCheckout(records, wayTo(from))
    const target = asIf(stored, wayTo(to).at(-1) as Checkout)
    const moved = store().move(stored, target)
    const moves: readonly CheckoutState[] = checkoutMoves[from]
    if (moves.includes(to) || (from === to && from !== 'REFUSED')) {
      expect((await moved).won).toBe(true)
    } else {
      await expect(moved).rejects.toThrow(/cannot follow|closed, for good/)
      expect(await store().find(stored.id)).toEqual(stored)
    }
  })
})

/** The other checkout as a later version of this one. */
function asIf(stored: Checkout, other: Checkout): Checkout {
  const { id, orderId, formKeyHash } = stored
  const named = { ...other, id, orderId, formKeyHash }
  if (!('invoice' in stored) || !('invoice' in named)) return named
  return { ...named, invoice: { ...named.invoice, id: stored.invoice.id } }
}

describe('the money of a checkout', () => {
  it('decides the price once', async () => {
    const open = await openOnRecord(records)
    const paid = await moveOn(records, open, ordered(open, [payment(unitsOfPrice - 1n)]))
    expect(paid.price).toBe(unitsOfPrice - 1n)
    await refuses(paid, { ...paid, price: unitsOfPrice - 2n }, 'price was decided, for good')
    const payments = [...paid.invoice.payments, payment(1n)]
    const more = { ...paid, invoice: { ...paid.invoice, payments } }
    await refuses(paid, { ...more, price: unitsOfPrice }, 'price was decided, for good')
    expect((await moveOn(records, paid, more)).price).toBe(unitsOfPrice - 1n)
  })

  it('has a price that came, and that is no more than that of its invoice', async () => {
    const open = await openOnRecord(records)
    const paid = ordered(open, [payment(unitsOfPrice - 5n), payment(10n, { status: 'PROCESSING' })])
    await refuses(open, { ...paid, price: unitsOfPrice }, 'price is more than came')
    await refuses(open, { ...paid, price: 0n }, 'not that of its invoice')
    const surplus = ordered(open, [payment(unitsOfPrice + 5n)])
    await refuses(open, { ...surplus, price: unitsOfPrice + 1n }, 'not that of its invoice')
  })

  it('never gives back more than came beside the price', async () => {
    const open = await openOnRecord(records)
    const paid = ordered(open, [
      payment(unitsOfPrice),
      payment(70n),
      payment(9n, { status: 'INVALID' }),
    ])
    await refuses(open, returning(paid, 71n), 'more goes back than came')
    const due = await moveOn(records, open, returning(paid, 50n))
    await refuses(due, returning(due, 21n), 'more goes back than came')
    const both = await moveOn(records, due, returning(due, 20n))
    const gone = { ...both.invoice, payments: both.invoice.payments.slice(0, 1) }
    await refuses(both, { ...both, invoice: gone }, 'more goes back than came')
  })

  it('never gives back what may still be the price', async () => {
    const open = await openOnRecord(records)
    const part = await moveOn(records, open, {
      ...open,
      invoice: { ...open.invoice, payments: [payment(70n)] },
    })
    await refuses(part, returning(part, 70n), 'before it is decided')
  })

  it('keeps no more than dust when it closes', async () => {
    const open = await openOnRecord(records)
    // Here 1,000 satoshi are worth 1 USDC, and at most 0.50 USDC may be kept.
    const rich = await moveOn(records, open, ended(open, [payment(501n)]))
    await refuses(rich, closed(rich), 'more than dust')
    const other = await openOnRecord(records)
    const poor = await moveOn(records, other, ended(other, [payment(500n)]))
    expect((await store().move(poor, closed(poor))).won).toBe(true)
  })
})

describe('the return of a checkout', () => {
  /** Puts a return of 70 units on record at this step, with a grant if the step needs one. */
  const returnAt = async (step: PayoutState): Promise<CheckoutIn<'ENDED'>> => {
    const open = await openOnRecord(records)
    const due = await moveOn(records, open, returning(ended(open, [payment(100n)]), 70n))
    if (step === 'DUE') return due
    if (step === 'FAILED') return moveOn(records, due, stepping(due, 'FAILED'))
    expect(await createPayoutLimits(pool, caps).allow(returnReference(due.id, 1))).toBe('granted')
    const sending = await moveOn(records, due, stepping(due, 'APPROVED'))
    return step === 'APPROVED' ? sending : moveOn(records, sending, stepping(sending, 'CONFIRMED'))
  }
  const pairs = steps.flatMap((from) => steps.map((to) => [from, to] as const))

  it.each(pairs)('lets a return that is %s become %s only along its moves', async (from, to) => {
    const stored = await returnAt(from)
    if (from === 'DUE' || from === 'FAILED') await grantAnyway(stored)
    const now = await latest(stored)
    const moves: readonly string[] = returnMoves[from]
    const moved = store().move(now, stepping(now, to))
    if (from === to || moves.includes(to)) expect((await moved).won).toBe(true)
    else await expect(moved).rejects.toThrow('cannot become this one')
  })

  it('is not sent without a grant', async () => {
    const due = await returnAt('DUE')
    await refuses(due, stepping(due, 'APPROVED'), 'return 1 was not granted')
    await createPayoutLimits(pool, caps).allow(returnReference(due.id, 1))
    const sending = await moveOn(records, due, stepping(due, 'APPROVED'))
    const two = await moveOn(records, sending, returning(sending, 30n))
    await refuses(two, stepping(two, 'APPROVED'), 'return 2 was not granted')
    const begun = stepping(returning(sending, 30n), 'CONFIRMED')
    await expect(store().move(two, begun)).rejects.toThrow(/not granted|cannot become/)
  })

  it('never changes, and is never dropped', async () => {
    const sent = await returnAt('CONFIRMED')
    const change = (changes: Partial<Return>): InvoicedCheckout => ({
      ...sent,
      returns: sent.returns.map((one) => ({ ...one, ...changes })),
    })
    await refuses(sent, change({ units: 69n }), 'cannot become this one')
    await refuses(sent, change({ why: 'late' }), 'cannot become this one')
    await refuses(sent, { ...sent, returns: [] }, 'cannot become this one')
    const payout = { state: 'CONFIRMED', transaction: 'another', confirmedAt: new Date() } as const
    await refuses(sent, change({ payout }), 'cannot become this one')
    await refuses(sent, change({ seq: 2 }), /count from 1|cannot become this one/)
    const open = await openOnRecord(records)
    const strange = returning(ended(open, [payment(9n)]), 9n)
    const returns = strange.returns.map((one) => ({ ...one, seq: 3 }))
    await refuses(open, { ...strange, returns }, 'count from 1')
  })

  it.each(['DUE', 'APPROVED', 'FAILED'] as const)(
    'does not close while one is %s',
    async (step) => {
      const stored = await returnAt(step)
      await refuses(stored, closed(stored), 'something still goes back')
    },
  )
})

/** Grants a return that is due or failed; a failed one is made due meanwhile. */
async function grantAnyway(stored: CheckoutIn<'ENDED'>): Promise<void> {
  const isFailed = stored.returns[0]?.payout.state === 'FAILED'
  const due = isFailed ? await moveOn(records, stored, stepping(stored, 'DUE')) : stored
  expect(await createPayoutLimits(pool, caps).allow(returnReference(due.id, 1))).toBe('granted')
  if (isFailed) await moveOn(records, due, stepping(due, 'FAILED'))
}

async function latest({ id }: Checkout): Promise<InvoicedCheckout> {
  return (await store().find(id)) as InvoicedCheckout
}
