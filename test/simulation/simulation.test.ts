import { describe, expect, test } from 'vitest'
import { modelShop } from '../model/shop.ts'
import { playCheckout } from './coins.ts'
import { mutants } from './mutants.ts'
import { type Outcome, simulate } from './run.ts'
import { smallest } from './shrink.ts'

const seeds = 8
const size = { orders: 10, nodes: 3 }
/** The first seed finds most mutants; the rarest need more seeds. */
const seedsForMutants = 80

const shop = modelShop()

function wrongs({ seed, violations }: Outcome): string[] {
  return violations.map(
    ({ what, order }) => `npm run simulate -- --seed ${seed}: ${what} (${order})`,
  )
}

test('many orders on several nodes end well under any faults', async () => {
  const failures: string[] = []
  let orders = 0
  for (let seed = 1; seed <= seeds; seed += 1) {
    const outcome = await simulate(shop, seed, size)
    failures.push(...wrongs(outcome))
    orders += outcome.orders
  }
  expect(failures).toEqual([])
  expect(orders).toBeGreaterThan(seeds * 5)
})

test('a seed replays exactly, and another seed is another run', async () => {
  const [first, again, other] = [
    await simulate(shop, 3, size),
    await simulate(modelShop(), 3, size),
    await simulate(shop, 4, size),
  ]
  expect(again.digest).toBe(first.digest)
  expect(again.counts).toEqual(first.counts)
  expect(other.digest).not.toBe(first.digest)
})

test('a node may die at every single call of a checkout that is paid too much', async () => {
  const payments = [{ percent: 180, afterMinutes: 3, isConfirmed: true }]
  for (let call = 1; call <= 60; call += 1) {
    for (const isAfter of [false, true]) {
      const spec = { isDelivered: true, areDropped: false, payments, deaths: [{ call, isAfter }] }
      expect(await playCheckout(spec)).toEqual([])
    }
  }
})

describe('what is broken on purpose is found', () => {
  test.each(Object.entries(mutants))('%s', async (_, mutant) => {
    let found: string[] = []
    for (let seed = 1; seed <= seedsForMutants && found.length === 0; seed += 1) {
      found = wrongs(await simulate(shop, seed, size, mutant))
    }
    expect(found).not.toEqual([])
  })
})

test('a failing seed shrinks to the few buyers that it takes', async () => {
  const mutant = mutants['a method that says failed when it does not know']
  const found = await smallest(shop, 1, size, mutant)
  expect(found?.violations).toContain('a payment failed that may still come')
  expect(found?.scenario.buyers.length).toBe(1)
  expect(found?.scenario.faults).toEqual([])
})
