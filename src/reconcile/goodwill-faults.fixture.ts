import { newHash } from '../../test/contract/sample-orders.ts'
import { usdc } from '../lib/money.ts'
import { type Goodwill, goodwillDropped } from '../orders/goodwill.ts'
import type { In } from '../orders/order.ts'
import type { DifferenceCode } from './differences.ts'
import { goodwillOf, type Life, type LifeName, look, type World } from './world.fixture.ts'

/** A fault: the life of the order that it must be found in, and how it changes an honest world. */
export interface Fault {
  readonly code: DifferenceCode
  readonly life: LifeName
  readonly doctor: (world: World, life: Required<Life>) => void
  /** Further codes that must be found, if the fault shows in two books. */
  readonly also?: readonly DifferenceCode[]
}

const dollar = usdc(1_000_000n)
const without = <T>(all: readonly T[], gone: T) => all.filter((one) => one !== gone)

/** Paid goodwill of a delivered order, as the chain and the record have it. */
function given(world: World, { order }: Life, changes: Partial<Goodwill> = {}) {
  const paid = goodwillOf(order)
  const { tender, receipt } = order as In<'FULFILLED'>
  const goodwill = {
    ...{ id: order.id, version: 3, amount: dollar, reason: 'late', by: 'ada' },
    ...{ givenAt: look.now, changedAt: new Date(0), tender, receipt },
    payout: { state: 'CONFIRMED', transaction: paid.transaction, confirmedAt: look.now },
    ...changes,
  } as Goodwill
  world.goodwill.push(goodwill)
  world.paidBack.push(paid)
  return paid
}

/** What can be wrong with goodwill, each in an honest world otherwise. */
export const goodwillFaults: Record<string, Fault> = {
  'goodwill that is not on record': {
    code: 'goodwill_not_booked',
    life: 'delivered',
    doctor: (world, { order }) => world.paidBack.push(goodwillOf(order)),
  },
  'goodwill that was due and is paid': {
    code: 'goodwill_not_booked',
    life: 'delivered',
    doctor: (world, life) => given(world, life, { payout: { state: 'DUE' } }),
  },
  'goodwill that was dropped and is paid': {
    code: 'goodwill_not_booked',
    life: 'delivered',
    doctor: (world, life) =>
      given(world, life, { payout: { state: 'FAILED', code: goodwillDropped, reason: 'blocked' } }),
  },
  'goodwill of another amount': {
    code: 'goodwill_differs',
    life: 'delivered',
    doctor: (world, life) => {
      const paid = given(world, life)
      world.paidBack = [...without(world.paidBack, paid), { ...paid, amount: usdc(2_000_000n) }]
    },
  },
  'goodwill for somebody else': {
    code: 'goodwill_differs',
    life: 'delivered',
    doctor: (world, life) => {
      const paid = given(world, life)
      world.paidBack = [...without(world.paidBack, paid), { ...paid, to: `0x${'99'.repeat(20)}` }]
    },
  },
  'goodwill by another transaction': {
    code: 'goodwill_differs',
    life: 'delivered',
    doctor: (world, life) => {
      const paid = given(world, life)
      world.paidBack = [...without(world.paidBack, paid), { ...paid, transaction: newHash() }]
    },
  },
  'goodwill that the chain does not have': {
    code: 'goodwill_booked_not_on_chain',
    life: 'delivered',
    doctor: (world, life) => {
      const paid = given(world, life)
      world.paidBack = without(world.paidBack, paid)
    },
  },
}
