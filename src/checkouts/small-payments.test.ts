import fc from 'fast-check'
import { expect, it } from 'vitest'
import { usdc } from '../lib/money.ts'
import { type InvoicePayment, settledUnits } from './checkout.ts'
import { mergedPayments, shownPayments } from './small-payments.ts'

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

it('reads tens of thousands of them in a few milliseconds each time', () => {
  const many = Array.from({ length: 40_000 }, (_, at) => payment(`m${at}`, 100n + BigInt(at % 7)))
  const first = read(many)
  const begun = performance.now()
  expect(mergedPayments(first, many, price).payments).toEqual(first)
  // Comparing every payment with every other takes two thirds of a second for 8,000, and 25 times as long
  // here.
  expect(performance.now() - begun).toBeLessThan(8_000)
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
