import { expect, test } from 'vitest'
import { type Case, cases, keyOf, ofKey } from './cases.ts'
import { outcomesOf, type Point } from './faults.ts'
import { seeded } from './random.ts'
import { runOnce } from './run.ts'
import { modelShop } from './world.ts'

/** One line as a failing run prints it: `case=… k=… outcome=…`. Then only that run is made. */
const only = process.env['CRASH_POINT']
const seed = 402
const pairsOfFaults = 2_000

const shop = modelShop()

/** The first call of each method in each state, and the last: those between are polls like them. */
function tellingCalls(trace: readonly string[]): number[] {
  const alike = Map.groupBy(trace.keys(), (k) => trace[k])
  const telling = [...alike.values()].flatMap((ks) => [
    ...new Set([...ks.slice(0, 1), ...ks.slice(-1)]),
  ])
  return telling.sort((one, other) => one - other)
}

/** Every fault that makes a difference at these calls. */
function faultsAt(trace: readonly string[], ks: readonly number[]): Point[] {
  const methodAt = (k: number) => trace[k]?.split('@')[0] ?? ''
  return ks.flatMap((k) => outcomesOf(methodAt(k)).map((outcome) => ({ k, outcome })))
}

/** The key of the run and what was wrong with it, or nothing. */
async function failuresOf(scene: Case, points: readonly Point[]): Promise<string[]> {
  const { violations } = await runOnce(shop, scene, points)
  return violations.length === 0 ? [] : [`${keyOf(scene, points)} :: ${violations.join('; ')}`]
}

async function faultlessTrace(scene: Case): Promise<readonly string[]> {
  const { trace, violations } = await runOnce(shop, scene, [])
  expect(violations, keyOf(scene, [])).toEqual([])
  return trace
}

test.runIf(only !== undefined)('the one run that CRASH_POINT names', async () => {
  const { scene, points } = ofKey(only ?? '')
  const { trace, violations } = await runOnce(shop, scene, points)
  expect(violations, trace.map((call, k) => `${k} ${call}`).join('\n')).toEqual([])
})

test.skipIf(only !== undefined)(
  'a purchase ends well whatever goes wrong at any one call',
  async () => {
    const failures: string[] = []
    let runs = 0
    for (const scene of cases) {
      const trace = await faultlessTrace(scene)
      for (const fault of faultsAt(trace, tellingCalls(trace))) {
        failures.push(...(await failuresOf(scene, [fault])))
        runs += 1
      }
    }
    console.log('RUNS', runs)
    expect(failures).toEqual([])
    expect(runs).toBeGreaterThan(10_000)
  },
)

test.skipIf(only !== undefined)(
  'a purchase ends well when two things go wrong soon after each other',
  async () => {
    const random = seeded(seed)
    const pick = <T>(from: readonly T[]): T[] =>
      from.slice(Math.floor(random() * from.length)).slice(0, 1)
    const failures: string[] = []
    let runs = 0
    for (let pair = 0; pair < pairsOfFaults; pair += 1) {
      for (const scene of pick(cases)) {
        const trace = await faultlessTrace(scene)
        for (const first of pick(faultsAt(trace, tellingCalls(trace)))) {
          const after = (await runOnce(shop, scene, [first])).trace
          const soon = after.map((_, k) => k).filter((k) => k > first.k && k <= first.k + 12)
          for (const second of pick(faultsAt(after, soon))) {
            failures.push(...(await failuresOf(scene, [first, second])))
            runs += 1
          }
        }
      }
    }
    expect(failures).toEqual([])
    expect(runs).toBeGreaterThan(pairsOfFaults * 0.9)
  },
)
