import { expect, test } from 'vitest'
import { type Plan, planOf } from './plan.ts'

const plain = ({ random, ...plan }: Plan) => ({ ...plan, next: random() })

test('the seed, the buyer and the count decide a plan, and nothing else', () => {
  const first = plain(planOf(7, 2, 3))
  planOf(7, 2, 4)
  expect(plain(planOf(7, 2, 3))).toEqual(first)
  const others = [planOf(8, 2, 3), planOf(7, 3, 3), planOf(7, 2, 4)].map(plain)
  expect(new Set([first, ...others].map(({ next }) => next)).size).toBe(4)
})

test('a run has every kind, every story and every habit', () => {
  const plans = Array.from({ length: 2_000 }, (_, count) => planOf(1, count % 20, count))
  const share = (is: (plan: Plan) => boolean) => plans.filter(is).length / plans.length
  expect(new Set(plans.map(({ kind, outcome }) => `${kind} ${outcome}`)).size).toBe(21)
  expect(share(({ outcome }) => outcome === 'OK')).toBeCloseTo(0.42, 1)
  expect(share(({ keyed }) => keyed)).toBeCloseTo(0.8, 1)
  expect(share(({ twice }) => twice)).toBeCloseTo(0.15, 1)
  expect(share(({ leavesAfter }) => leavesAfter < 4)).toBeCloseTo(0.1, 1)
  expect(plans.some(({ signsAgain }) => signsAgain)).toBe(true)
  expect(plans.every(({ signsAgain, keyed }) => keyed || !signsAgain)).toBe(true)
})
