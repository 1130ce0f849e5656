import { describe, expect, it } from 'vitest'
import { newCheckoutId, newOrderId } from '../../../test/doubles/ids.ts'
import {
  closed,
  ended,
  invoice,
  moveOn,
  onRecord,
  opened,
  opening,
  openOnRecord,
  ordered,
  payment,
  placedOnRecord,
  refundTo,
  refused,
  returning,
  stepping,
  takeCheckout,
  unitsOfPrice,
} from '../../../test/fixtures/sample-checkouts.ts'
import { type Checkout, returnReference } from '../../checkouts/checkout.ts'
import { TooManyUnpaid, type UnpaidBound } from '../../checkouts/ports.ts'
import type { Sealed } from '../../secrets/secrets.ts'
import { createCheckoutStore } from './checkouts.ts'
import { inTurn, twoNodes } from './stores.fixture.ts'

const nodes = twoNodes(createCheckoutStore)

describe('opening a checkout', () => {
  it('gives one form to one of many, on two nodes', async () => {
    const formKeyHash = 'a form that is sent often'
    const all = await inTurn(nodes(), 16, (node) => node.open(opening({ formKeyHash })))
    const winners = all.filter(({ isNew }) => isNew)
    expect(winners).toHaveLength(1)
    for (const { checkout } of all) expect(checkout).toEqual(winners[0]?.checkout)
  })

  it('opens equal checkouts once, however close they come', async () => {
    for (let round = 0; round < 20; round += 1) {
      const checkout = opening()
      const own = (index: number) => ({ ...checkout, recipient: `v1.sealed.${index}` as Sealed })
      const all = await inTurn(nodes(), 16, (node, index) => node.open(own(index)))
      expect(all.filter(({ isNew }) => isNew)).toHaveLength(1)
      const won = own(all.findIndex(({ isNew }) => isNew))
      for (const one of all) expect(one.checkout).toEqual(won)
    }
  })

  it('gives back what the same form began, as it stands now', async () => {
    const open = await openOnRecord(nodes)
    const again = await nodes().other.open(opening({ formKeyHash: open.formKeyHash }))
    expect(again).toEqual({ isNew: false, checkout: open })
  })

  it('lets a form begin again of which nobody could have paid anything', async () => {
    const first = opening()
    await takeCheckout(nodes, [first, refused(first)])
    const again = opening({ formKeyHash: first.formKeyHash })
    expect(await nodes().store.open(again)).toEqual({ isNew: true, checkout: again })
    expect((await nodes().store.open(again)).isNew).toBe(false)
  })

  it('never gives two checkouts one order', async () => {
    const orderId = newOrderId()
    await nodes().store.open(opening({ orderId }))
    await expect(nodes().store.open(opening({ orderId }))).rejects.toThrow('order_id')
  })
})

describe('moving a checkout', () => {
  it('lets one of two movers win, and shows the other what is stored', async () => {
    const open = await openOnRecord(nodes)
    const [one, two] = await Promise.all([
      nodes().store.move(open, ordered(open)),
      nodes().other.move(open, ended(open)),
    ])
    expect(one.won).not.toBe(two.won)
    expect(one.record).toEqual(two.record)
    expect(await nodes().store.find(open.id)).toEqual(one.record)
  })

  it('gives back what was stored, field for field, on both nodes', async () => {
    const first = opening()
    const withParts = opened(first, {
      payments: [
        payment(1n, { status: 'PROCESSING' }),
        payment(2n, { status: 'INVALID' }),
        payment(3n),
      ],
    })
    const open = await onRecord(nodes, first, withParts)
    expect(open).toStrictEqual({ ...withParts, version: 2 })
    const paid = ordered(open, [payment(unitsOfPrice), payment(10n ** 24n)])
    const moved = await moveOn(nodes, open, returning(paid, 10n ** 23n))
    expect(await nodes().other.find(open.id)).toStrictEqual({ ...moved, version: 3 })
    const failed = await moveOn(nodes, moved, stepping(moved, 'FAILED'))
    expect(await nodes().other.find(open.id)).toStrictEqual(failed)
    const refusal = refused(opening())
    const { state: _, code: __, reason: ___, ...begun } = refusal
    const stored = await onRecord(nodes, { ...begun, state: 'OPENING' as const }, refusal)
    expect(await nodes().other.find(refusal.id)).toStrictEqual(stored)
  })
})

describe('the lease of a checkout', () => {
  it('makes a released checkout due when it said, or when its invoice is hastened', async () => {
    const open = await openOnRecord(nodes)
    await nodes().store.release(open, 60_000)
    await nodes().store.hasten('another')
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().store.hasten(open.invoice.id)
    expect(await nodes().other.claimDue(10)).toEqual([open])
  })

  it('hands out the orders of one method, and leaves those of the other alone', async () => {
    const { orderId } = await placedOnRecord(nodes)
    const order = await nodes().orders.find(orderId)
    if (order) await nodes().orders.release(order, 0)
    expect(await nodes().orders.claimDue(10, 'x402')).toEqual([])
    expect(await nodes().orders.claimDue(10, 'btcpay')).toEqual([order])
  })

  it('leaves closed checkouts alone, whatever comes of their invoice', async () => {
    const open = await openOnRecord(nodes)
    const over = await moveOn(nodes, open, closed(ended(open)))
    const first = opening()
    const none = await takeCheckout(nodes, [first, refused(first)])
    for (const checkout of [over, none]) await nodes().store.release(checkout, 0)
    await nodes().store.hasten(open.invoice.id)
    await nodes().pass(60_000)
    expect(await nodes().store.claimDue(10)).toEqual([])
  })
})

describe('finding a checkout', () => {
  it('finds a checkout by its id and by the order that it opens, from the beginning', async () => {
    const first = opening()
    await nodes().store.open(first)
    expect(await nodes().other.find(first.id)).toEqual(first)
    expect(await nodes().other.findByOrder(first.orderId)).toEqual(first)
    expect(await nodes().store.find(newCheckoutId())).toBeUndefined()
    expect(await nodes().store.findByOrder(newOrderId())).toBeUndefined()
  })

  it('finds it by any transaction that paid it, however that is written', async () => {
    const open = await openOnRecord(nodes)
    const [price, more, unsure] = [
      payment(unitsOfPrice, { transaction: `0x${'Ab'.repeat(32)}` }),
      payment(5n),
      payment(7n, { status: 'PROCESSING' }),
    ] as const
    expect(await nodes().store.findByTransaction(price.transaction)).toBeUndefined()
    const paid = await moveOn(nodes, open, ordered(open, [price, more, unsure]))
    for (const { transaction } of [price, more, unsure]) {
      for (const written of [transaction, transaction.toLowerCase(), transaction.toUpperCase()]) {
        expect(await nodes().other.findByTransaction(written)).toEqual(paid)
      }
    }
    expect(await nodes().store.findByTransaction('another')).toBeUndefined()
  })

  it('finds the first checkout where one transaction paid two', async () => {
    const transaction = 'e'.repeat(64)
    const find = () => nodes().store.findByTransaction(transaction)
    const second = opening({ startedAt: new Date('2026-03-02T10:00:00Z') })
    await takeCheckout(nodes, [
      second,
      opened(second, { payments: [payment(1n, { transaction })] }),
    ])
    expect(await find()).toMatchObject({ id: second.id })
    const first = opening()
    await takeCheckout(nodes, [first, opened(first, { payments: [payment(1n, { transaction })] })])
    expect(await find()).toMatchObject({ id: first.id })
  })
})

describe('erasing a checkout', () => {
  const future = () => new Date(Date.now() + 3_600_000)
  const at = (checkout: Checkout) => nodes().store.find(checkout.id)

  it('erases recipient and unused address of what ended before then, and only then', async () => {
    const open = await openOnRecord(nodes)
    const unpaid = await moveOn(nodes, open, closed(ended(open)))
    const first = opening()
    const none = await takeCheckout(nodes, [first, refused(first)])
    const running = await openOnRecord(nodes)
    expect(await nodes().store.erasePersonal(new Date(Date.now() - 3_600_000))).toBe(0)
    expect(await nodes().store.erasePersonal(future())).toBe(2)
    const without = { recipient: undefined, refundTo: '' }
    expect(await at(unpaid)).toEqual({ ...unpaid, ...without, version: unpaid.version + 1 })
    expect(await at(none)).toEqual({ ...none, ...without, version: none.version + 1 })
    expect(await at(running)).toEqual(running)
    expect(await nodes().store.erasePersonal(future())).toBe(0)
  })

  it('keeps the address that money went to, or that an order pays back to', async () => {
    const placed = await placedOnRecord(nodes)
    const sold = await moveOn(nodes, placed, closed(placed))
    const open = await openOnRecord(nodes)
    const part = await moveOn(nodes, open, returning(ended(open, [payment(900n)]), 900n))
    expect(await nodes().payoutLimits.allow(returnReference(part.id, 1))).toBe('granted')
    const sending = await moveOn(nodes, part, stepping(part, 'APPROVED'))
    const back = await moveOn(nodes, sending, closed(stepping(sending, 'CONFIRMED')))
    expect(await nodes().store.erasePersonal(future())).toBe(2)
    for (const checkout of [sold, back]) {
      expect(await at(checkout)).toMatchObject({ recipient: undefined, refundTo })
    }
  })
})

const bound: UnpaidBound = { client: 'a client', most: 2, states: ['OPENING', 'OPEN'] }
const pooled: UnpaidBound = { ...bound, states: ['OPENING', 'OPEN', 'ENDED'] }

describe('unpaid checkouts', () => {
  const begin = (limits: UnpaidBound = bound, changes: object = {}) =>
    nodes().store.open(opening(changes), limits)

  /** Opens a checkout with an invoice that counts for the client. */
  async function openFor(limits: UnpaidBound) {
    const first = opening()
    await nodes().store.open(first, limits)
    return moveOn(nodes, first, opened(first))
  }

  it('are so many of a client in a coin, sent at once to two nodes', async () => {
    const all = await inTurn(nodes(), 12, (node) =>
      node.open(opening(), bound).then(
        () => 'opened',
        (error) => error,
      ),
    )
    expect(all.filter((one) => one === 'opened')).toHaveLength(2)
    for (const error of all.filter((one) => one !== 'opened')) {
      expect(error).toBeInstanceOf(TooManyUnpaid)
      expect(error).toMatchObject({ unpaid: 2 })
    }
    await begin({ ...bound, client: 'another' })
    await begin(bound, { coin: 'LTC', network: 'Litecoin' })
    await nodes().store.open(opening())
  })

  it('are those that nobody paid or is paying', async () => {
    const [paid, none] = [await openFor(bound), opening()]
    await nodes().store.open(none, bound)
    await expect(begin()).rejects.toThrow(TooManyUnpaid)
    const { id, address } = paid.invoice
    const paying = {
      ...paid,
      invoice: invoice({ ...paid.invoice, id, address, status: 'PROCESSING' }),
    }
    const seen = await moveOn(nodes, paid, paying)
    await begin()
    await expect(begin()).rejects.toThrow(TooManyUnpaid)
    await moveOn(nodes, seen, ordered(seen))
    await expect(begin()).rejects.toThrow(TooManyUnpaid)
  })

  it('are those that were refused, for an hour', async () => {
    const none = opening()
    await nodes().store.open(none, bound)
    await begin()
    await nodes().store.move(none, refused(none))
    await expect(begin()).rejects.toThrow(TooManyUnpaid)
    await begin({ ...bound, client: 'another' })
    await nodes().pass(3_600_000)
    await begin()
  })

  it('are deleted 90 days after they closed, and what somebody paid never is', async () => {
    const days = (count: number) => count * 86_400_000
    const gone = new Date(Date.now() + days(1_000))
    const unpaid = await openFor(bound)
    const over = await moveOn(nodes, unpaid, closed(ended(unpaid)))
    const none = opening()
    await nodes().store.open(none)
    await nodes().store.move(none, refused(none))
    const open = await openFor({ ...bound, client: 'another' })
    const dust = await openFor({ ...bound, client: 'a third' })
    const kept = await moveOn(nodes, dust, closed(ended(dust, [payment(100n)])))
    const dropped = await openFor({ ...bound, client: 'a fourth' })
    const invalid = payment(unitsOfPrice, { status: 'INVALID' })
    const seen = await moveOn(nodes, dropped, closed(ended(dropped, [invalid])))
    await nodes().pass(days(89))
    expect(await nodes().store.forgetNeverPaid(gone)).toBe(0)
    await nodes().pass(days(2))
    expect(await nodes().store.forgetNeverPaid(new Date(0))).toBe(0)
    expect(await nodes().store.forgetNeverPaid(gone)).toBe(2)
    const left = [over, none, open, kept, seen].map(({ id }) => nodes().store.find(id))
    expect(await Promise.all(left)).toEqual([undefined, undefined, open, kept, seen])
  })

  it('are counted until their addresses are free where they come from a pool', async () => {
    const [one, two] = [await openFor(pooled), await openFor(pooled)]
    const over = await moveOn(nodes, one, ended(one))
    await expect(begin(pooled)).rejects.toThrow(TooManyUnpaid)
    await moveOn(nodes, over, closed(over))
    await begin(pooled)
    await moveOn(nodes, two, ended(two))
    await begin(bound)
  })
})
