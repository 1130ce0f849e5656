import fc from 'fast-check'
import { describe, expect, it, test } from 'vitest'
import { cardForm, checkoutWorld } from '../../test/doubles/checkouts.ts'
import { usdc } from '../lib/money.ts'
import type { Refunding } from '../orders/order.ts'
import { retryRefund } from '../orders/refund.ts'
import { moveAside } from '../orders/workflow.ts'
import {
  checkoutBalancesOf,
  type InvoicePayment,
  maxKept,
  settledUnits,
  withReturn,
} from './checkout.ts'
import { mergedPayments, shownPayments } from './returns.ts'
import { day, declining, denying, hour, minute, openSale } from './sale.fixture.ts'

const gone = { outcome: 'unknown', reason: 'no such invoice', isGone: true } as const

describe('money that is not the price goes back, to the address that was given', () => {
  test('too little', async () => {
    const { id, live, order, pay, payouts, returns, seen, units } = await openSale()
    pay(units / 2n)
    await live(minute)
    expect(payouts()).toEqual([])
    await live(48 * hour)
    expect(await returns()).toEqual([[units / 2n, 'underpaid', 'CONFIRMED']])
    expect(payouts()).toEqual([
      { reference: `${id}-1`, to: cardForm.refundTo, units: units / 2n, state: 'sent' },
    ])
    expect(await order()).toBeUndefined()
    expect(await seen()).toMatchObject({ state: 'ENDED', closedAt: expect.any(Date) })
  })

  test('too much, and twice', async () => {
    const { live, order, pay, returns, units } = await openSale()
    pay(units * 2n)
    await live(minute)
    pay(units)
    await live(48 * hour)
    expect(await order()).toMatchObject({ state: 'FULFILLED' })
    const surplus = [units, 'surplus', 'CONFIRMED']
    expect(await returns()).toEqual([surplus, surplus])
  })

  test('too late', async () => {
    const { live, order, pay, returns, units } = await openSale()
    await live(hour)
    pay(units, { late: true })
    await live(hour)
    expect(await returns()).toEqual([[units, 'late', 'CONFIRMED']])
    expect(await order()).toBeUndefined()
  })

  test('unless it is worth 0.50 USDC or less: one unit more goes back, whatever sending it costs', async () => {
    const { isClosed, live, pay, returns, seen, units } = await openSale()
    const kept = (units * maxKept) / (await seen()).amount
    pay(units + kept)
    await live(minute)
    expect(await seen()).toMatchObject({ state: 'ORDERED', returns: [] })
    pay(1n)
    await live(48 * hour)
    expect(await returns()).toEqual([[kept + 1n, 'surplus', 'CONFIRMED']])
    expect(await isClosed()).toBe(true)
  })

  test('when the processor sends it, and once however often it is asked', async () => {
    const { live, pay, payouts, processor, returns, units } = await openSale()
    processor.rules.holdsPayouts = true
    processor.failNext('payOut', { fault: 'lost' })
    processor.failNext('payOut', { fault: 'unreached' })
    pay(units / 2n)
    await live(3 * hour)
    expect(await returns()).toEqual([[units / 2n, 'underpaid', 'APPROVED']])
    processor.sendPayouts()
    await live(hour)
    expect(payouts()).toHaveLength(1)
    expect(await returns()).toEqual([[units / 2n, 'underpaid', 'CONFIRMED']])
  })

  test('only when the payout limits allow it', async () => {
    const { events, id, live, pay, payoutLimits, payouts, returns, units } = await openSale()
    payoutLimits.rules.stoppedAt = 0
    pay(units / 2n)
    await live(3 * hour)
    const held = { name: 'return_held', checkout: id, seq: 1, reason: 'stopped' }
    expect([payouts(), events[0]]).toEqual([[], held])
    payoutLimits.rules.stoppedAt = Infinity
    await live(hour)
    expect(await returns()).toEqual([[units / 2n, 'underpaid', 'CONFIRMED']])
  })

  test('not above the cap, until an operator has looked', async () => {
    const { events, id, isClosed, live, pay, payoutLimits, seen, units } = await openSale()
    payoutLimits.rules.hour = 1n
    pay(units / 2n)
    await live(3 * hour)
    expect((await seen()).returns[0]?.payout).toMatchObject({ code: 'over_cap' })
    const failed = { name: 'return_failed', checkout: id, seq: 1, reason: 'over_cap' }
    expect(events).toEqual([failed])
    await live(48 * hour)
    expect(await isClosed()).toBe(false)
  })

  test('by an operator where the processor cannot', async () => {
    const form = { coin: 'XMR', refundTo: 'xmr-address-of-ada' }
    const { answers, checkouts, id, live, notes, pay, seen, units } = await openSale(form)
    pay(units / 2n)
    await live(3 * hour)
    const failed = await seen()
    expect(failed.returns[0]?.payout).toMatchObject({ state: 'FAILED', code: 'operator_pays' })
    // What an operator noted is paid, whatever the processor shows.
    answers(gone)
    notes.set(`${id}-1`, 'tx-by-hand')
    await checkouts.move(failed, withReturn(failed, 1, { state: 'DUE' }))
    checkouts.endLease(id)
    await live(hour)
    const paid = { state: 'CONFIRMED', transaction: 'tx-by-hand' }
    expect((await seen()).returns[0]?.payout).toMatchObject(paid)
  })
})

describe('a payment that the processor denies after it was settled', () => {
  test('stays settled, and an operator hears of it', async () => {
    const { events, id, live, pay, seen, shows, units } = await openSale()
    pay(units * 2n)
    await live(minute)
    shows(() => [])
    const { invoice } = await seen()
    await live(hour)
    expect((await seen()).invoice.payments).toEqual(invoice.payments)
    expect(events).toContainEqual({ name: 'settled_payment_gone', checkout: id })
  })

  test('is not paid back besides the goods when another replaces it', async () => {
    const { id, isClosed, live, order, pay, payouts, seen, shows, told, units } = await openSale()
    const first = pay(units)
    await live(minute)
    expect(await order()).toMatchObject({ state: 'FULFILLED' })
    shows(denying(first.id))
    pay(units)
    await live(48 * hour)
    expect(payouts()).toEqual([])
    expect(told('settled_payment_gone')).toContainEqual({
      ...{ name: 'settled_payment_gone', checkout: id },
    })
    expect(await isClosed()).toBe(false)
    await live(4 * day)
    expect(await isClosed()).toBe(true)
    expect(checkoutBalancesOf(await seen())).toEqual([
      { account: 'received', amount: units },
      { account: 'price', amount: -units },
    ])
  })

  test('is not paid back by its order either, until it is there again', async () => {
    const sale = await openSale({}, checkoutWorld(declining))
    const { answers, live, order, orders, pay, payoutLimits, payouts, shows, units } = sale
    payoutLimits.rules.stoppedAt = 0
    const payment = pay(units)
    await live(hour)
    shows(denying(payment.id))
    payoutLimits.rules.stoppedAt = Infinity
    await live(hour)
    const held = { payout: { state: 'FAILED', code: 'payment_not_shown' } }
    expect(await order()).toMatchObject(held)
    // A processor that did not take the money does not know the invoice, and pays nothing for it.
    answers({ outcome: 'unknown', reason: 'no such invoice' })
    await retryRefund(orders, (await order()) as Refunding)
    await live(2 * hour)
    expect(payouts()).toEqual([])
    expect(await order()).toMatchObject({ payout: { state: 'APPROVED' } })
    shows()
    await live(hour)
    expect(await order()).toMatchObject({ payout: { state: 'CONFIRMED' } })
    expect(payouts()).toMatchObject([{ reference: sale.orderId, units }])
  })

  test('is not paid back by its order either, when its surplus was', async () => {
    const sale = await openSale({}, checkoutWorld({ held: { outcome: 'pending' } }))
    const { live, order, orders, pay, payouts, returns, script, shows, units } = sale
    pay(units)
    const surplus = pay(units / 2n)
    await live(hour)
    expect(await returns()).toEqual([[units / 2n, 'surplus', 'CONFIRMED']])
    shows(denying(surplus.id))
    Object.assign(script, declining)
    await live(12 * hour)
    const held = { payout: { state: 'FAILED', code: 'payment_not_shown' } }
    expect(await order()).toMatchObject(held)
    expect(payouts()).toMatchObject([{ units: units / 2n }])
    shows()
    await retryRefund(orders, (await order()) as Refunding)
    await live(hour)
    expect(await order()).toMatchObject({ payout: { state: 'CONFIRMED' } })
  })

  /** An underpaid checkout of which 0.4 and 0.5 of the price are due, and the larger payment is denied. */
  async function partlyDenied() {
    const sale = await openSale()
    const { live, pay, payoutLimits, shows, units } = sale
    payoutLimits.rules.stoppedAt = 0
    const small = pay((units * 4n) / 10n)
    const large = pay(units / 2n)
    await live(2 * hour)
    shows(denying(large.id))
    await live(hour)
    payoutLimits.rules.stoppedAt = Infinity
    await live(hour)
    return { ...sale, small: small.units, large: large.units }
  }

  test('is not paid back, what is still shown is, and nothing keeps the checkout open', async () => {
    const { events, id, live, payouts, returns, seen, small, large } = await partlyDenied()
    expect(await returns()).toEqual([
      [small + large, 'underpaid', 'FAILED'],
      [small, 'underpaid', 'CONFIRMED'],
    ])
    const failed = { name: 'return_failed', checkout: id, seq: 1, reason: 'payment_vanished' }
    expect(events).toContainEqual(failed)
    await live(5 * day)
    const closed = await seen()
    expect(closed).toHaveProperty('closedAt')
    expect(checkoutBalancesOf(closed)).toEqual([
      { account: 'received', amount: small },
      { account: 'returned', amount: -small },
    ])
    expect(payouts()).toMatchObject([{ units: small }])
  })

  test('is paid back by a return of its own when it is there again', async () => {
    const { isClosed, live, returns, shows, small, large } = await partlyDenied()
    shows()
    await live(5 * day)
    expect((await returns()).slice(1)).toEqual([
      [small, 'underpaid', 'CONFIRMED'],
      [large, 'underpaid', 'CONFIRMED'],
    ])
    expect(await isClosed()).toBe(true)
  })

  test('after the processor was asked to pay it back waits for an operator', async () => {
    const sale = await openSale()
    const { checkouts, id, live, pay, payouts, processor, returns, seen, shows, units } = sale
    processor.rules.holdsPayouts = true
    const payment = pay(units / 2n)
    await live(2 * hour)
    shows(denying(payment.id))
    await live(5 * day)
    const held = await seen()
    expect(held.returns[0]?.payout).toMatchObject({ state: 'FAILED', code: 'payment_not_shown' })
    expect(held).not.toHaveProperty('closedAt')
    processor.sendPayouts()
    shows()
    checkouts.endLease(id)
    await moveAside(checkouts, held, withReturn(held, 1, { state: 'DUE' }))
    await live(2 * hour)
    expect(await returns()).toEqual([[units / 2n, 'underpaid', 'CONFIRMED']])
    expect(payouts()).toHaveLength(1)
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
