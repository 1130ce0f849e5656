import { inspect } from 'node:util'
import fc from 'fast-check'
import type { Pool } from 'pg'
import { beforeEach, describe, expect, it } from 'vitest'
import { newOrderId, newPaymentId } from '../../../test/doubles/ids.ts'
import { onChain } from '../../../test/doubles/orders.ts'
import { anyOrder, anySigned } from '../../../test/fixtures/any-order.ts'
import {
  asked,
  expectWon,
  failed,
  fulfilled,
  newHash,
  newX402Payment,
  orderOnRecord,
  paid,
  payer,
  paymentFailed,
  pending,
  refunded,
  take,
  unpayable,
  wayTo,
} from '../../../test/fixtures/sample-orders.ts'
import { type Order, paymentWatchMs, withPayout } from '../../orders/order.ts'
import type { OrderStore } from '../../orders/ports.ts'
import { paymentKeyOf } from '../../payments/payment.ts'
import type { Sealed } from '../../secrets/secrets.ts'
import { breakingOnce } from './breaking.fixture.ts'
import { createOrderStore } from './orders.ts'
import { inTurn, twoNodes } from './stores.fixture.ts'

const nodes = twoNodes(createOrderStore)
let pool: Pool
let store: OrderStore
let other: OrderStore
beforeEach(() => {
  ;({ pool, store, other } = nodes())
})

describe('a write whose answer is lost', () => {
  const breaking = (when: 'before' | 'after') => createOrderStore(breakingOnce(pool, when))

  it('opens an order if it was committed, and is an error if not', async () => {
    const order = pending()
    await expect(breaking('before').open(order, [])).rejects.toThrow('terminated')
    expect(await store.find(order.id)).toBeUndefined()
    expect(await breaking('after').open(order, ['lost'])).toEqual({ isNew: true, order })
    // It is not taken for the opening of somebody else's order.
    const second = pending({ payment: order.payment })
    expect(await breaking('before').open(second, [])).toEqual({ isNew: false, order })
  })

  it('wins a move if it was committed, and is an error while nothing changed', async () => {
    const order = pending()
    await store.open(order, [])
    await expect(breaking('before').move(order, paid(order))).rejects.toThrow('terminated')
    expect(await store.find(order.id)).toEqual(order)
    const { won, record } = await breaking('after').move(order, paid(order))
    expect([won, record.state, record.version]).toEqual([true, 'PAID', 2])
    expect(await breaking('before').move(order, paid(order))).toEqual({ won: false, record })
  })
})

it('keeps the history of an order without words that others wrote, and what is sealed apart', async () => {
  const asking = asked()
  const order = await orderOnRecord(store, failed(asking))
  const { rows } = await pool.query(
    'select seq, state, payout_state, detail from order_events where order_id = $1 order by seq',
    [order.id],
  )
  const { transaction, block } = onChain(asking.receipt)
  const reason = { trigger: 'fulfillment_failed', code: 'E7', supply: 'NONE' }
  expect(rows).toEqual([
    { seq: 1, state: 'PAYMENT_PENDING', payout_state: null, detail: {} },
    { seq: 2, state: 'PAID', payout_state: null, detail: { transaction, block } },
    { seq: 3, state: 'FULFILLING', payout_state: null, detail: { transaction, block } },
    { seq: 4, state: 'FULFILLMENT_FAILED', payout_state: 'DUE', detail: reason },
  ])
  const { rows: own } = await pool.query('select recipient, doc::text from orders where id = $1', [
    order.id,
  ])
  expect(own[0].recipient).toBe(order.recipient)
  expect(own[0].doc).not.toContain(order.recipient)
})

describe('opening an order', () => {
  it('gives one payment to one of many, on two nodes', async () => {
    const payment = newX402Payment()
    const opened = await inTurn(nodes(), 16, (node) => node.open(pending({ payment }), ['k']))
    const winners = opened.filter(({ isNew }) => isNew)
    expect(winners).toHaveLength(1)
    for (const { order } of opened) expect(order).toEqual(winners[0]?.order)
  })

  it('opens equal requests under one id once, however close they come, on two nodes', async () => {
    // As in the store, the ids are derived from the payment, and each request seals its recipient anew. In few rounds the requests really overlap.
    for (let round = 0; round < 20; round += 1) {
      const order = pending()
      const key = 'k'.repeat(round + 1)
      const own = (index: number) => ({ ...order, recipient: `v1.sealed.${index}` as Sealed })
      const opened = await inTurn(nodes(), 16, (node, index) => node.open(own(index), [key]))
      expect(opened.filter(({ isNew }) => isNew)).toHaveLength(1)
      const won = own(opened.findIndex(({ isNew }) => isNew))
      for (const { order: stored } of opened) expect(stored).toEqual(won)
    }
  })

  it('knows a payment again whatever case its addresses are written in', async () => {
    const order = pending()
    await store.open(order, [])
    const shouted = {
      ...order.payment,
      payer: order.payment.payer.toUpperCase().replace('0X', '0x'),
    }
    const again = await store.open(pending({ payment: shouted }), [])
    expect(again).toEqual({ isNew: false, order })
  })

  it('keeps the order of a key that comes with another payment, and takes nothing', async () => {
    const first = pending()
    await store.open(first, ['k1', 'k2'])
    const second = pending()
    const again = await store.open(second, ['k0', 'k2'])
    expect(again).toEqual({ isNew: false, order: first })
    expect(await store.find(second.id)).toBeUndefined()
    expect(await store.findByPayment(paymentKeyOf(second.payment))).toBeUndefined()
    expect(await store.findByKey(payer, 'k0')).toBeUndefined()
    expect((await store.open(second, ['k3'])).isNew).toBe(true)
  })

  it('gives one key to one of many payments, on two nodes', async () => {
    const keys = Array.from({ length: 500 }, (_, index) => `key-${index}`)
    // Opens the connections first, so that the attempts really overlap.
    await inTurn(nodes(), 32, (node, index) => node.findByKey(payer, `key-${index}`))
    const opened = await inTurn(nodes(), 16, (node, index) =>
      node.open(pending(), index % 2 ? keys : keys.toReversed()),
    )
    const winners = opened.filter(({ isNew }) => isNew)
    expect(winners).toHaveLength(1)
    for (const { order } of opened) expect(order).toEqual(winners[0]?.order)
    expect((await store.listByPayer(payer, { limit: 9, offset: 0 })).total).toBe(1)
  })

  it('lets an address buy once, whoever pays, on two nodes', async () => {
    const openedFor = (node: OrderStore, index: number) => {
      const payment = { ...newX402Payment(), payer: `0x${String(10 + index).repeat(20)}` }
      return node.open(pending({ payment }), [`own-${index}`], { address: 'sealed' })
    }
    const opened = await inTurn(nodes(), 16, openedFor)
    const [winner, ...others] = opened.filter(({ isNew }) => isNew)
    expect(others).toEqual([])
    for (const { order } of opened) expect(order).toEqual(winner?.order)
    expect(await store.findByAddress('sealed')).toEqual(winner?.order)
    expect(await store.findByAddress('other')).toBeUndefined()
  })

  it('lets another payer use the same key, and takes a key that is sent twice', async () => {
    await store.open(pending(), ['k'])
    const payment = { ...newX402Payment(), payer: `0x${'77'.repeat(20)}` }
    expect((await store.open(pending({ payment }), ['k', 'k'])).isNew).toBe(true)
  })
})

describe('moving an order', () => {
  it('lets one of two movers win, and shows the other what is stored', async () => {
    const first = pending()
    await take(store, [first])
    const [one, two] = await Promise.all([
      store.move(first, paid(first)),
      other.move(first, paymentFailed(first)),
    ])
    expect(one.won).not.toBe(two.won)
    expect(one.record).toEqual(two.record)
    expect(await store.find(first.id)).toEqual(one.record)
  })

  it('gives back what was stored, field for field', async () => {
    await fc.assert(
      fc.asyncProperty(anyOrder, async (any) => {
        const payment = { ...any.payment, nonce: newHash() }
        const target: Order = { ...any, id: newOrderId(), paymentId: newPaymentId(), payment }
        const way = wayTo(target)
        const moved = await take(store, way)
        expect(moved).toStrictEqual({ ...target, version: way.length })
        expect(await other.find(target.id)).toStrictEqual(moved)
      }),
      { numRuns: 60 },
    )
  })
})

describe('the lease of an order', () => {
  it('keeps a new order from others until its lease ends', async () => {
    const { id } = await take(store, [pending()])
    expect(await other.claimDue(10)).toEqual([])
    await nodes().endLease(id)
    expect((await other.claimDue(10)).map((order) => order.id)).toEqual([id])
    expect(await store.claimDue(10)).toEqual([])
  })

  it('renews the lease with every move', async () => {
    const first = pending()
    const opened = await take(store, [first])
    await nodes().endLease(first.id)
    await store.move(opened, paid(first))
    expect(await other.claimDue(10)).toEqual([])
  })

  it('hands each order to one of two that claim at once', async () => {
    const orders = await Promise.all(Array.from({ length: 20 }, () => take(store, [pending()])))
    await Promise.all(orders.map((order) => store.release(order, 0)))
    const claims = await inTurn(nodes(), 8, (node) => node.claimDue(4))
    for (const claim of claims) expect(claim.length).toBeLessThanOrEqual(4)
    const rest = await store.claimDue(100)
    const taken = [...claims.flat(), ...rest].map(({ id }) => id)
    expect(taken.sort()).toEqual(orders.map(({ id }) => id).sort())
  })

  it('hands out what a worker broke off before what only waits, however long that is due', async () => {
    const waiting = await take(store, [pending()])
    await store.release(waiting, 0)
    const broken = await take(store, [pending()])
    await nodes().pass(1_000)
    await nodes().endLease(broken.id)
    expect(await other.claimDue(1)).toEqual([broken])
    expect(await other.claimDue(1)).toEqual([waiting])
  })

  it('makes a released order due when it said, or when it is hastened', async () => {
    const order = await take(store, [pending()])
    await store.release(order, 60_000)
    expect(await other.claimDue(10)).toEqual([])
    await store.hasten(order.id)
    expect(await other.claimDue(10)).toEqual([order])
    await other.release(order, 0)
    expect(await store.claimDue(10)).toEqual([order])
  })

  it('keeps a hint that comes while somebody works on the order', async () => {
    const order = await take(store, [pending()])
    await other.hasten(order.id)
    expect(await other.claimDue(10)).toEqual([])
    await store.release(order, 60_000)
    expect(await other.claimDue(10)).toEqual([order])
    await other.release(order, 60_000)
    expect(await other.claimDue(10)).toEqual([])
  })

  it('does not let a release end the lease of whoever moved the order on', async () => {
    const first = pending()
    await take(store, [first, paid(first)])
    await store.release(first, 0)
    expect(await other.claimDue(10)).toEqual([])
  })

  it('leaves finished orders alone, and takes up one whose refund is tried again', async () => {
    const asking = asked()
    await take(store, wayTo(fulfilled(asked())))
    const order = await take(store, wayTo(unpayable(failed(asking))))
    await store.hasten(order.id)
    await store.release(order, 0)
    expect(await store.claimDue(10)).toEqual([])
    const retried = await store.move(order, { ...failed(asking), version: order.version })
    await store.release(retried.record, 0)
    expect(await store.claimDue(10)).toEqual([retried.record])
  })
})

describe('the payment of an order', () => {
  it('gives back a signed refund as it was stored, field for field', async () => {
    await fc.assert(
      fc.asyncProperty(anySigned, async (any) => {
        const payment = { ...any.payment, nonce: newHash() }
        const fresh = { id: newOrderId(), paymentId: newPaymentId(), payment }
        const target: Order = { ...any, ...fresh }
        const due = withPayout({ ...any, ...fresh }, { state: 'DUE' })
        const order = await take(store, wayTo(due))
        expect(await nodes().payoutLimits.allow(order.id)).toBe('granted')
        const moved = expectWon(await store.move(order, target))
        expect(moved).toStrictEqual({ ...target, version: order.version + 1 })
        expect(await other.find(target.id)).toStrictEqual(moved)
      }),
      { numRuns: 30 },
    )
  })

  it('gives the keys of a payment back that has failed, and only then', async () => {
    const first = pending()
    const opened = await take(store, [first], ['k1', 'k2'])
    const second = pending()
    expect((await other.open(second, ['k2'])).isNew).toBe(false)
    expectWon(await store.move(opened, paymentFailed(first)))
    expect(await other.findByKey(payer, 'k1')).toBeUndefined()
    expect(await other.hasKey(first.id, ['k1', 'k2'])).toBe(false)
    const again = await other.open(second, ['k2'])
    expect(again).toMatchObject({ isNew: true, order: { id: second.id } })
    // The payment itself still belongs to the order that failed.
    const same = await store.open(pending({ payment: first.payment }), ['k9'])
    expect(same).toMatchObject({ isNew: false, order: { id: first.id, state: 'PAYMENT_FAILED' } })
    expect(await store.findByKey(payer, 'k9')).toBeUndefined()
  })

  it('keeps the keys through every other move', async () => {
    for (const end of [fulfilled(asked()), failed(asked())]) {
      const { id } = await take(store, wayTo(end), [`key-of-${end.id}`])
      expect(await store.hasKey(id, [`key-of-${end.id}`])).toBe(true)
    }
    const first = pending()
    const seen = await take(store, [first, paid(first)], ['k'])
    // A payment that the chain dropped may still land, so it keeps its key.
    expectWon(await store.move(seen, first))
    expect(await store.hasKey(first.id, ['k'])).toBe(true)
  })

  it('leaves an order alone for a while that was delivered and whose payment may vanish', async () => {
    const order = await take(store, wayTo({ ...fulfilled(asked()), settlement: 'SEEN' }))
    expect(await other.claimDue(10)).toEqual([])
    await nodes().pass(paymentWatchMs - 10_000)
    expect(await other.claimDue(10)).toEqual([])
    await nodes().pass(10_000)
    expect(await other.claimDue(10)).toEqual([order])
  })
})

const longAgo = new Date('2020-01-01')
const inAnHour = () => new Date(Date.now() + 3_600_000)

describe('finding an order', () => {
  it('finds an order by each of its names', async () => {
    const hash = `0x${'cD'.repeat(32)}`
    const first = pending()
    const order = await take(store, [first, paid(first, hash)], ['k'])
    expect(await store.find(order.id)).toEqual(order)
    expect(await store.findByPaymentId(order.paymentId)).toEqual(order)
    expect(await store.findByPayment(paymentKeyOf(order.payment))).toEqual(order)
    expect(await store.findByTransaction(hash.toLowerCase())).toEqual(order)
    expect(await store.findByTransaction(hash.toUpperCase())).toEqual(order)
    expect(await store.findByKey(payer.toLowerCase(), 'k')).toEqual(order)
    expect(await store.hasKey(order.id, ['x', 'k'])).toBe(true)
  })

  it('lists the orders of a payer newest first, in pages that neither repeat nor skip', async () => {
    const days = [3, 1, 2, 2, 2]
    const orders = await Promise.all(
      days.map((day) => take(store, [pending({ placedAt: new Date(Date.UTC(2026, 0, day)) })])),
    )
    await take(store, [
      pending({ payment: { ...newX402Payment(), payer: `0x${'77'.repeat(20)}` } }),
    ])
    const pages = await Promise.all(
      [0, 2, 4, 6].map((offset) => store.listByPayer(payer, { limit: 2, offset })),
    )
    const listed = pages.flatMap(({ items }) => items)
    expect(pages.map(({ total }) => total)).toEqual([5, 5, 5, 5])
    expect(pages.map(({ items }) => items.length)).toEqual([2, 2, 1, 0])
    expect(listed.map(({ placedAt }) => placedAt.getUTCDate())).toEqual([3, 2, 2, 2, 1])
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(orders.map(({ id }) => id)))
  })

  it('knows to whom plans on an eSIM were delivered, and of which brand', async () => {
    await take(store, wayTo(fulfilled(asked(), 'digest')))
    expect(await store.plansOf('digest')).toEqual([
      { payer: payer.toLowerCase(), brandName: 'Test' },
    ])
    expect(await store.plansOf('other')).toEqual([])
  })
})

describe('what is kept of an order', () => {
  it('erases personal fields of ended orders once, and keeps the rest', async () => {
    const open = await take(store, [pending()])
    const done = await take(store, wayTo(fulfilled(asked())))
    const target = refunded(failed(asked()))
    const back = await take(store, wayTo(target))
    expect(await store.erasePersonal(longAgo)).toBe(0)
    expect(await store.erasePersonal(inAnHour())).toBe(2)
    expect(await store.erasePersonal(inAnHour())).toBe(0)
    expect(await store.find(open.id)).toEqual(open)
    const erased = { ...done, recipient: undefined, version: done.version + 1 }
    expect(await store.find(done.id)).toEqual(erased)
    const kept = await store.find(back.id)
    expect(kept).toMatchObject({ recipient: undefined, payout: target.payout })
    expect(inspect(kept, { depth: 9 })).not.toContain('4915112345678')
  })

  it('does not let a writer who read before the erasure write the fields back', async () => {
    const asking = asked()
    const order = await take(store, wayTo(unpayable(failed(asking))))
    await store.erasePersonal(inAnHour())
    const moved = await other.move(order, failed(asking))
    expect(moved).toMatchObject({ won: false, record: { recipient: undefined } })
  })

  it('forgets old keys of ended orders only', async () => {
    const open = await take(store, [pending()], ['k1'])
    const done = await take(store, wayTo(fulfilled(asked())), ['k2', 'k3'])
    expect(await store.forgetKeys(longAgo)).toBe(0)
    expect(await store.forgetKeys(inAnHour())).toBe(2)
    expect(await store.findByKey(payer, 'k1')).toEqual(open)
    expect(await store.findByKey(payer, 'k2')).toBeUndefined()
    expect(await store.hasKey(done.id, ['k2', 'k3'])).toBe(false)
  })

  it('forgets an order whose payment never was a day after its end, with all its rows', async () => {
    const gone = await take(store, wayTo(paymentFailed(pending())), ['k'])
    // Its payment was seen, was dropped from the chain, and can never land again.
    const first = pending()
    const seen = await take(store, [first, paid(first)])
    const unpaid = expectWon(await store.move(seen, { ...first, version: seen.version }))
    const lost = expectWon(await store.move(unpaid, paymentFailed(first)))
    const others = [pending(), failed(asked()), fulfilled(asked())].map((one) => wayTo(one))
    const kept = [lost, ...(await Promise.all(others.map((way) => take(store, way))))]
    const far = new Date('2100-01-01T00:00:00Z')
    expect(await store.forgetNeverPaid(far)).toBe(0)
    await nodes().pass(86_460_000)
    expect(await store.forgetNeverPaid(new Date(0))).toBe(0)
    kept.push(await take(store, wayTo(paymentFailed(pending()))))
    for (const { id } of kept) {
      for (const sql of [
        'delete from order_events where order_id = $1',
        'delete from payments where order_id = $1',
        'delete from orders where id = $1',
      ]) {
        await expect(pool.query(sql, [id]), sql).rejects.toThrow('keeps what was written')
      }
    }
    expect([await store.forgetNeverPaid(far), await other.forgetNeverPaid(far)]).toEqual([1, 0])
    const { rows } = await pool.query(
      `select (select count(*) from orders where id = $1) + (select count(*) from payments where order_id = $1)
        + (select count(*) from order_events where order_id = $1) as rows`,
      [gone.id],
    )
    expect(rows).toEqual([{ rows: '0' }])
    for (const { id } of kept) expect(await store.find(id)).toBeDefined()
  })
})
