import { describe, expect, it } from 'vitest'
import { type Checkout, returnReference } from '../../src/checkouts/checkout.ts'
import type { Sealed } from '../../src/secrets/vault.ts'
import { newCheckoutId, newOrderId } from '../doubles/ids.ts'
import {
  type CheckoutNodes,
  type CheckoutStoreHarness,
  moveOn,
  onRecord,
  openOnRecord,
  placedOnRecord,
  takeCheckout,
} from './checkout-store-nodes.ts'
import { describeCheckoutRules } from './checkout-store-rules.ts'
import { describeUnpaid } from './checkout-store-unpaid.ts'
import {
  closed,
  ended,
  opened,
  opening,
  ordered,
  payment,
  refundTo,
  refused,
  returning,
  stepping,
  unitsOfPrice,
} from './sample-checkouts.ts'
import { inTurn, newForEach } from './two-nodes.ts'

/** The contract of `CheckoutStore`. `start` returns a new, empty one each time. */
export function describeCheckoutStore(
  name: string,
  start: () => Promise<CheckoutStoreHarness>,
): void {
  describe(`the checkouts in ${name}`, () => {
    const nodes = newForEach(start)

    describe('opening', () => describeOpening(nodes))
    describe('unpaid ones', () => describeUnpaid(nodes))
    describe('moving', () => describeMoving(nodes))
    describe('rules', () => describeCheckoutRules(nodes))
    describe('leases', () => describeLeases(nodes))
    describe('finding', () => describeFinding(nodes))
    describe('erasing', () => describeErasing(nodes))
  })
}

function describeOpening(nodes: CheckoutNodes): void {
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

  it('keeps an ended checkout with its form', async () => {
    const open = await openOnRecord(nodes)
    const over = await moveOn(nodes, open, ended(open))
    const again = await nodes().store.open(opening({ formKeyHash: open.formKeyHash }))
    expect(again).toEqual({ isNew: false, checkout: over })
  })

  it('never gives two checkouts one order', async () => {
    const orderId = newOrderId()
    await nodes().store.open(opening({ orderId }))
    await expect(nodes().store.open(opening({ orderId }))).rejects.toThrow('order_id')
  })
}

function describeMoving(nodes: CheckoutNodes): void {
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

  it('counts the writes and refuses one that does not know the last', async () => {
    const open = await openOnRecord(nodes)
    expect(open.version).toBe(2)
    const over = await moveOn(nodes, open, ended(open))
    expect(await nodes().store.move(open, ordered(open))).toEqual({ won: false, record: over })
  })

  it('throws for a checkout that was never opened, and for another one', async () => {
    const first = opening()
    await expect(nodes().store.move(first, opened(first))).rejects.toThrow('never opened')
    await nodes().store.open(first)
    await expect(nodes().store.move(first, opened(opening()))).rejects.toThrow('cannot become')
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
}

function describeLeases(nodes: CheckoutNodes): void {
  it('keeps a new checkout from others until its lease ends', async () => {
    const checkout = opening()
    await nodes().store.open(checkout)
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().endLease(checkout.id)
    expect(await nodes().other.claimDue(10)).toEqual([checkout])
    expect(await nodes().store.claimDue(10)).toEqual([])
  })

  it('renews the lease with every move', async () => {
    const first = opening()
    await nodes().store.open(first)
    await nodes().endLease(first.id)
    await nodes().store.move(first, opened(first))
    expect(await nodes().other.claimDue(10)).toEqual([])
  })

  it('hands each checkout to one of two that claim at once', async () => {
    const all = await Promise.all(Array.from({ length: 20 }, () => openOnRecord(nodes)))
    await Promise.all(all.map((checkout) => nodes().store.release(checkout, 0)))
    const claims = await inTurn(nodes(), 8, (node) => node.claimDue(4))
    for (const claim of claims) expect(claim.length).toBeLessThanOrEqual(4)
    const taken = [...claims.flat(), ...(await nodes().store.claimDue(100))].map(({ id }) => id)
    expect(taken.sort()).toEqual(all.map(({ id }) => id).sort())
  })

  it('hands out what a worker broke off before what only waits', async () => {
    const waiting = await openOnRecord(nodes)
    await nodes().store.release(waiting, 0)
    const broken = await openOnRecord(nodes)
    await nodes().pass(1_000)
    await nodes().endLease(broken.id)
    expect(await nodes().other.claimDue(1)).toEqual([broken])
    expect(await nodes().other.claimDue(1)).toEqual([waiting])
  })

  it('makes a released checkout due when it said, or when its invoice is hastened', async () => {
    const open = await openOnRecord(nodes)
    await nodes().store.release(open, 60_000)
    await nodes().store.hasten('another')
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().store.hasten(open.invoice.id)
    expect(await nodes().other.claimDue(10)).toEqual([open])
  })

  it('keeps a hint that comes while somebody works on the checkout', async () => {
    const open = await openOnRecord(nodes)
    await nodes().other.hasten(open.invoice.id)
    expect(await nodes().other.claimDue(10)).toEqual([])
    await nodes().store.release(open, 60_000)
    expect(await nodes().other.claimDue(10)).toEqual([open])
    await nodes().other.release(open, 60_000)
    expect(await nodes().other.claimDue(10)).toEqual([])
  })

  it('does not let a release end the lease of whoever moved the checkout on', async () => {
    const open = await openOnRecord(nodes)
    await moveOn(nodes, open, ended(open))
    await nodes().store.release(open, 0)
    expect(await nodes().other.claimDue(10)).toEqual([])
  })

  it('hands out the orders of one rail, and leaves those of the other alone', async () => {
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
}

function describeFinding(nodes: CheckoutNodes): void {
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

  it('finds it by the address that its invoice is paid at, however that is written', async () => {
    const first = opening()
    const address = '0xAbCd000000000000000000000000000000000001'
    const open = await onRecord(nodes, first, opened(first, { address }))
    for (const written of [address, address.toLowerCase()]) {
      expect(await nodes().other.findByAddress(written)).toEqual(open)
    }
    expect(await nodes().store.findByAddress(refundTo)).toBeUndefined()
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
}

function describeErasing(nodes: CheckoutNodes): void {
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
}
