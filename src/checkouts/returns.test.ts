import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import {
  type CheckoutWorld,
  cardForm,
  checkoutWorld,
  invoiced,
  openCheckout,
  payoutsOf,
  returnsOf,
} from '../../test/doubles/checkouts.ts'
import { usdc } from '../lib/money.ts'
import { isRefunding, type Refunding } from '../orders/order.ts'
import { retryRefund } from '../orders/refund.ts'
import { moveAside } from '../orders/workflow.ts'
import { type InvoicePayment, settledUnits, withReturn } from './checkout.ts'
import { checkoutBalancesOf, maxKept } from './ledger.ts'
import { mergedPayments, shownPayments } from './returns.ts'

const minute = 60_000
const hour = 60 * minute

describe('money that is not the price goes back, to the address that was given', () => {
  test('too little', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(minute)
    expect(payoutsOf(world)).toEqual([])
    await world.live(48 * hour)
    const checkout = await world.seen(id)
    expect([checkout.state, returnsOf(checkout)]).toEqual([
      'ENDED',
      [[invoice.units / 2n, 'underpaid', 'CONFIRMED']],
    ])
    expect(payoutsOf(world)).toEqual([
      { reference: `${id}-1`, to: cardForm.refundTo, units: invoice.units / 2n, state: 'sent' },
    ])
    expect(await world.orders.find(orderId)).toBeUndefined()
    expect(checkout).toHaveProperty('closedAt')
  })

  test('too much, and twice', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, invoice.units * 2n)
    await world.live(minute)
    world.processor.pay(invoice.id, invoice.units)
    await world.live(48 * hour)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
    expect(returnsOf(await world.seen(id))).toEqual([
      [invoice.units, 'surplus', 'CONFIRMED'],
      [invoice.units, 'surplus', 'CONFIRMED'],
    ])
  })

  test('too late', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await openCheckout(world)
    await world.live(hour)
    world.processor.pay(invoice.id, invoice.units, { late: true })
    await world.live(hour)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units, 'late', 'CONFIRMED']])
    expect(await world.orders.find(orderId)).toBeUndefined()
  })

  test('unless it is worth 0.50 USDC or less: one unit more goes back, whatever sending it costs', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await openCheckout(world)
    const kept = (invoice.units * maxKept) / (await world.seen(id)).amount
    world.processor.pay(invoice.id, invoice.units + kept)
    await world.live(minute)
    expect(await world.seen(id)).toMatchObject({ state: 'ORDERED', returns: [] })
    world.processor.pay(invoice.id, 1n)
    await world.live(48 * hour)
    expect(returnsOf(await world.seen(id))).toEqual([[kept + 1n, 'surplus', 'CONFIRMED']])
    expect(await world.seen(id)).toHaveProperty('closedAt')
  })

  test('when the processor sends it, and once however often it is asked', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await openCheckout(world)
    world.processor.rules.holdsPayouts = true
    world.processor.failNext('payOut', { fault: 'lost' })
    world.processor.failNext('payOut', { fault: 'unreached' })
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(3 * hour)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units / 2n, 'underpaid', 'APPROVED']])
    world.processor.sendPayouts()
    await world.live(hour)
    expect(payoutsOf(world)).toHaveLength(1)
    expect(returnsOf(await world.seen(id))).toEqual([
      [invoice.units / 2n, 'underpaid', 'CONFIRMED'],
    ])
  })

  test('only when the payout limits allow it', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await openCheckout(world)
    world.payoutLimits.rules.stoppedAt = 0
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(3 * hour)
    expect([payoutsOf(world), world.events[0]]).toEqual([
      [],
      { name: 'return_held', checkout: id, seq: 1, reason: 'stopped' },
    ])
    world.payoutLimits.rules.stoppedAt = Infinity
    await world.live(hour)
    expect(returnsOf(await world.seen(id))).toEqual([
      [invoice.units / 2n, 'underpaid', 'CONFIRMED'],
    ])
  })

  test('not above the cap, until an operator has looked', async () => {
    const world = checkoutWorld()
    world.payoutLimits.rules.hour = 1n
    const { id, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(3 * hour)
    expect(invoiced(await world.seen(id)).returns[0]?.payout).toMatchObject({ code: 'over_cap' })
    expect(world.events).toEqual([
      { name: 'return_failed', checkout: id, seq: 1, reason: 'over_cap' },
    ])
    await world.live(48 * hour)
    expect(await world.seen(id)).not.toHaveProperty('closedAt')
  })

  test('by an operator where the processor cannot', async () => {
    const world = checkoutWorld()
    const form = { coin: 'XMR', refundTo: 'xmr-address-of-ada' }
    const { id, invoice } = await openCheckout(world, form)
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(3 * hour)
    const failed = invoiced(await world.seen(id))
    expect(failed.returns[0]?.payout).toMatchObject({ state: 'FAILED', code: 'operator_pays' })
    // What an operator noted is paid, whatever the processor shows.
    world.reading.read = async () => ({
      outcome: 'unknown',
      reason: 'no such invoice',
      isGone: true,
    })
    world.notes.set(`${id}-1`, 'tx-by-hand')
    await world.checkouts.move(failed, withReturn(failed, 1, { state: 'DUE' }))
    world.checkouts.endLease(id)
    await world.live(hour)
    expect(invoiced(await world.seen(id)).returns[0]?.payout).toMatchObject({
      state: 'CONFIRMED',
      transaction: 'tx-by-hand',
    })
  })
})

describe('a payment that the processor denies after it was settled', () => {
  /** A reading in which these payments were never confirmed, because others replaced them. */
  function denying(world: CheckoutWorld, denied: readonly string[]) {
    world.reading.read = async (name, coin) => {
      const answer = await world.processor.read(name, coin)
      if (answer.outcome === 'unknown') return answer
      const payments = answer.invoice.payments.map((one) =>
        denied.includes(one.id) ? { ...one, status: 'INVALID' as const } : one,
      )
      return { ...answer, invoice: { ...answer.invoice, payments } }
    }
  }

  test('stays settled, and an operator hears of it', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, invoice.units * 2n)
    await world.live(minute)
    world.reading.read = async (name, coin) => {
      const answer = await world.processor.read(name, coin)
      if (answer.outcome === 'unknown') return answer
      return { ...answer, invoice: { ...answer.invoice, payments: [] } }
    }
    const before = await world.seen(id)
    await world.live(hour)
    expect(invoiced(await world.seen(id)).invoice.payments).toEqual(
      invoiced(before).invoice.payments,
    )
    expect(world.events).toContainEqual({ name: 'settled_payment_gone', checkout: id })
  })

  test('a payment that replaces one that was settled is not paid back besides the goods', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await openCheckout(world)
    const first = world.processor.pay(invoice.id, invoice.units)
    await world.live(minute)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
    denying(world, [first.id])
    world.processor.pay(invoice.id, invoice.units)
    await world.live(48 * hour)
    expect(payoutsOf(world)).toEqual([])
    expect(world.events).toContainEqual({ name: 'settled_payment_gone', checkout: id })
    expect(await world.seen(id)).not.toHaveProperty('closedAt')
    await world.live(4 * 24 * hour)
    const closed = await world.seen(id)
    expect(closed).toHaveProperty('closedAt')
    expect(checkoutBalancesOf(closed)).toEqual([
      { account: 'received', amount: invoice.units },
      { account: 'price', amount: -invoice.units },
    ])
  })

  test('is not paid back by its order either, until it is there again', async () => {
    const world = checkoutWorld({ held: { outcome: 'declined', code: 'NO', reason: 'no' } })
    const { orderId, invoice } = await openCheckout(world)
    const refundNow = async () => {
      const order = await world.orders.find(orderId)
      if (!order || !isRefunding(order)) throw new Error('The order has no refund')
      return { order, payout: order.payout }
    }
    world.payoutLimits.rules.stoppedAt = 0
    const { id: payment } = world.processor.pay(invoice.id, invoice.units)
    await world.live(hour)
    denying(world, [payment])
    world.payoutLimits.rules.stoppedAt = Infinity
    await world.live(hour)
    const held = await refundNow()
    expect(held.payout).toMatchObject({ state: 'FAILED', code: 'payment_not_shown' })
    // A processor that did not take the money does not know the invoice, and pays nothing for it.
    world.reading.read = async () => ({ outcome: 'unknown', reason: 'no such invoice' })
    await retryRefund(world.orders, held.order, 'operator')
    await world.live(2 * hour)
    expect([payoutsOf(world), (await refundNow()).payout?.state]).toEqual([[], 'APPROVED'])
    world.reading.read = world.processor.read
    await world.live(hour)
    expect((await refundNow()).payout).toMatchObject({ state: 'CONFIRMED' })
    expect(payoutsOf(world)).toMatchObject([{ reference: orderId, units: invoice.units }])
  })

  test('is not paid back by its order either, when its surplus was', async () => {
    const world = checkoutWorld({ held: { outcome: 'pending' } })
    const { id, orderId, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, invoice.units)
    const { id: surplus } = world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(hour)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units / 2n, 'surplus', 'CONFIRMED']])
    denying(world, [surplus])
    world.script.held = { outcome: 'declined', code: 'NO', reason: 'no' }
    await world.live(12 * hour)
    expect(await world.orders.find(orderId)).toMatchObject({
      payout: { state: 'FAILED', code: 'payment_not_shown' },
    })
    expect(payoutsOf(world)).toMatchObject([{ units: invoice.units / 2n }])
    // The processor shows the surplus again.
    world.reading.read = world.processor.read
    const order = await world.orders.find(orderId)
    await retryRefund(world.orders, order as Refunding, 'operator')
    await world.live(hour)
    expect(await world.orders.find(orderId)).toMatchObject({ payout: { state: 'CONFIRMED' } })
  })

  /** An underpaid checkout of which 0.4 and 0.5 of the price are due, and the larger payment is denied. */
  async function partlyDenied() {
    const world = checkoutWorld()
    const { id, invoice } = await openCheckout(world)
    world.payoutLimits.rules.stoppedAt = 0
    const small = world.processor.pay(invoice.id, (invoice.units * 4n) / 10n)
    const large = world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(2 * hour)
    denying(world, [large.id])
    await world.live(hour)
    world.payoutLimits.rules.stoppedAt = Infinity
    return { world, id, small, large }
  }

  test('is not paid back, what is still shown is, and nothing keeps the checkout open', async () => {
    const { world, id, small, large } = await partlyDenied()
    await world.live(hour)
    const both = small.units + large.units
    expect(returnsOf(await world.seen(id))).toEqual([
      [both, 'underpaid', 'FAILED'],
      [small.units, 'underpaid', 'CONFIRMED'],
    ])
    expect(world.events).toContainEqual({
      ...{ name: 'return_failed', checkout: id, seq: 1, reason: 'payment_vanished' },
    })
    await world.live(5 * 24 * hour)
    const closed = await world.seen(id)
    expect(closed).toHaveProperty('closedAt')
    expect(checkoutBalancesOf(closed)).toEqual([
      { account: 'received', amount: small.units },
      { account: 'returned', amount: -small.units },
    ])
    expect(payoutsOf(world)).toMatchObject([{ units: small.units }])
  })

  test('is paid back by a return of its own when it is there again', async () => {
    const { world, id, small, large } = await partlyDenied()
    await world.live(hour)
    world.reading.read = world.processor.read
    await world.live(5 * 24 * hour)
    expect(returnsOf(await world.seen(id)).slice(1)).toEqual([
      [small.units, 'underpaid', 'CONFIRMED'],
      [large.units, 'underpaid', 'CONFIRMED'],
    ])
    expect(await world.seen(id)).toHaveProperty('closedAt')
  })

  test('after the processor was asked to pay it back waits for an operator', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await openCheckout(world)
    world.processor.rules.holdsPayouts = true
    const { id: payment, units } = world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(2 * hour)
    denying(world, [payment])
    await world.live(5 * 24 * hour)
    const held = invoiced(await world.seen(id))
    expect(held.returns[0]?.payout).toMatchObject({ state: 'FAILED', code: 'payment_not_shown' })
    expect(held).not.toHaveProperty('closedAt')
    world.processor.sendPayouts()
    world.reading.read = world.processor.read
    world.checkouts.endLease(id)
    await moveAside(world.checkouts, held, withReturn(held, 1, { state: 'DUE' }))
    await world.live(2 * hour)
    expect(returnsOf(await world.seen(id))).toEqual([[units, 'underpaid', 'CONFIRMED']])
    expect(payoutsOf(world)).toHaveLength(1)
  })
})

const firstAt = new Date('2026-07-01T12:00:00Z')
/** 25 dollars are 50,000 units, so 100 units are 0.05 dollars. */
const price = { amount: usdc(25_000_000n), units: 50_000n }

function payment(id: string, units: bigint, changes: Partial<InvoicePayment> = {}): InvoicePayment {
  const transaction = `tx-${id}`
  return { id, transaction, units, status: 'SETTLED', receivedAt: firstAt, ...changes }
}
const read = (payments: readonly InvoicePayment[]) => mergedPayments([], payments, price).payments

it('leaves what is worth 0.05 dollars or more as it is', () => {
  const payments = [payment('b', 50_000n), payment('a', 100n)]
  expect(read(payments)).toEqual(payments)
})

it('makes one of the small ones of a status, with what the first that came says', () => {
  const payments = [
    payment('a', 50_000n),
    payment('b', 1n),
    payment('c', 99n, { receivedAt: new Date(0) }),
    payment('d', 5n, { status: 'PROCESSING' }),
  ]
  const shown = read(payments)
  expect(shown.map(({ id, units, transaction }) => [id, units, transaction])).toEqual([
    ['a', 50_000n, 'tx-a'],
    ['sum-settled', 100n, 'tx-c'],
    ['sum-processing', 5n, 'tx-d'],
  ])
  expect(read(payments.toReversed())).toEqual(expect.arrayContaining([...shown]))
})

it('keeps the 50 largest of a status by themselves, whichever came first', () => {
  const many = Array.from({ length: 200 }, (_, at) => payment(`m${at}`, 100n + BigInt(at)))
  const first = read(many)
  expect(first).toHaveLength(51)
  const paid = payment('paid', 50_000n)
  const { payments, isDenied } = mergedPayments(first, [...many, paid], price)
  expect(isDenied).toBe(false)
  expect(payments).toHaveLength(51)
  expect(payments[0]).toEqual(paid)
  expect(settledUnits({ payments })).toBe(settledUnits({ payments: [...many, paid] }))
})

it('keeps of what is denied only what was spent', () => {
  const known = [payment('a', 50_000n), payment('b', 40_000n), payment('c', 60n)]
  const shown = [payment('a', 50_000n, { status: 'INVALID' }), payment('b', 40_000n)]
  for (const [spent, settled] of [
    [0n, 40_000n],
    [40_000n, 40_000n],
    [70_000n, 70_000n],
    [90_060n, 90_060n],
  ] as const) {
    const payments = shownPayments(known, shown, price, spent)
    expect(settledUnits({ payments })).toBe(settled)
    expect(new Set(payments.map(({ id }) => id)).size).toBe(payments.length)
  }
  const small = [payment('c', 60n), payment('d', 50_000n, { status: 'INVALID' })]
  expect(settledUnits({ payments: shownPayments([...known], small, price, 70n) })).toBe(70n)
})

/** Each payment by its units, when it is seen, and whether it is dropped again. */
const lives = fc.array(
  fc.record({
    units: fc.oneof(
      { arbitrary: fc.bigInt(1n, 99n), weight: 1 },
      { arbitrary: fc.bigInt(100n, 130n), weight: 9 },
    ),
    seen: fc.nat(4),
    // Payments settle only at some looks, so that new ones do not hide at every look what happens to the
    // others.
    settled: fc.constantFrom(0, 2, 4),
    gone: fc.oneof({ arbitrary: fc.nat(5), weight: 1 }, { arbitrary: fc.constant(9), weight: 19 }),
  }),
  { minLength: 40, maxLength: 160, size: 'max' },
)

it('loses nothing that was settled once, and counts nothing twice, whatever is shown after it', () => {
  fc.assert(
    fc.property(lives, (all) => {
      let known: readonly InvoicePayment[] = []
      let before = 0n
      for (let moment = 0; moment <= 5; moment += 1) {
        const shown = all.flatMap(({ units, seen, settled, gone }, at) => {
          const status = settled <= moment ? 'SETTLED' : 'PROCESSING'
          const receivedAt = new Date(seen)
          if (moment < seen || moment >= gone) return []
          return [payment(`p${at}`, units, { status, receivedAt })]
        })
        const singles = new Set(known.map(({ id, status }) => `${id} ${status}`))
        known = mergedPayments(known, shown, price).payments
        const total = settledUnits({ payments: known })
        const newOnes = known.filter(
          ({ id, status, isSum }) => isSum !== true && !singles.has(`${id} ${status}`),
        )
        const ever = all.filter(({ seen, settled, gone }) => {
          const from = Math.max(seen, settled)
          return from <= moment && from < gone
        })
        const most = ever.reduce((sum, { units }) => sum + units, 0n)
        const now = settledUnits({ payments: shown })
        expect(total).toBeGreaterThanOrEqual(now)
        expect(total).toBeGreaterThanOrEqual(before + settledUnits({ payments: newOnes }))
        expect(total).toBeLessThanOrEqual(most)
        expect(known.filter(({ status }) => status === 'SETTLED').length).toBeLessThanOrEqual(51)
        before = total
      }
    }),
    { numRuns: 200 },
  )
})
