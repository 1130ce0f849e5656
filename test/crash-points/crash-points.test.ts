import { expect, test } from 'vitest'
import { seeded } from '../model/random.ts'
import { modelShop } from '../model/shop.ts'
import { type Case, cases, keyOf, ofKey } from './cases.ts'
import { outcomesOf, type Point } from './faults.ts'
import { runOnce } from './run.ts'

/** A line that a failing run has printed: `case=… k=… outcome=…`. If set, only that run is made. */
const only = process.env['CRASH_POINT']
const seed = 402
const pairsOfFaults = 400
/** The second fault comes within this many calls after the first. */
const soon = 12

const shop = modelShop()

/** The first and the last call of each method in each state; those between are equal polls. */
function tellingCalls(trace: readonly string[]): number[] {
  const alike = Map.groupBy(trace.keys(), (k) => trace[k])
  const telling = [...alike.values()].flatMap((ks) => [...ks.slice(0, 1), ...ks.slice(1).slice(-1)])
  return telling.sort((one, other) => one - other)
}

/** All faults that make a difference at these calls. */
function faultsAt(trace: readonly string[], ks: readonly number[]): Point[] {
  const methodAt = (k: number) => trace[k]?.split('@')[0] ?? ''
  return ks.flatMap((k) => outcomesOf(methodAt(k)).map((outcome) => ({ k, outcome })))
}

function faultsIn(trace: readonly string[]): Point[] {
  return faultsAt(trace, tellingCalls(trace))
}

/** The key of the run with its violations; empty without any. */
async function failuresOf(scene: Case, points: readonly Point[]): Promise<string[]> {
  const { violations } = await runOnce(shop, scene, points)
  return violations.length === 0 ? [] : [`${keyOf(scene, points)} :: ${violations.join('; ')}`]
}

async function faultlessTrace(scene: Case): Promise<readonly string[]> {
  const { trace, violations } = await runOnce(shop, scene, [])
  expect(violations, keyOf(scene, [])).toEqual([])
  return trace
}

function isOvertaken({ kind, supplier, payment, repeat }: Case): boolean {
  return kind === 'voucher' && supplier === 'at-once' && payment === 'pays' && repeat !== 'never'
}

/** Whether a node stalls while it still considers the request. */
function isEarlyStall({ k, outcome }: Point): boolean {
  return k < 3 && outcome.startsWith('stall')
}

function isSlow({ supplier, repeat }: Case): boolean {
  return supplier === 'fails-later' && repeat === 'never'
}

/** Whether a node stalls just before it releases its lease, which then has expired. */
function isLateRelease({ k, outcome }: Point, trace: readonly string[]): boolean {
  return outcome === 'stall-before' && trace[k]?.startsWith('release@') === true
}

/** The failures in these cases when any second fault follows each of these first ones. */
async function failuresOfPairs(
  scenes: readonly Case[],
  isFirst: (fault: Point, trace: readonly string[]) => boolean,
) {
  const failures: string[] = []
  let runs = 0
  for (const scene of scenes) {
    const before = await faultlessTrace(scene)
    for (const first of faultsIn(before).filter((fault) => isFirst(fault, before))) {
      const { trace } = await runOnce(shop, scene, [first])
      const after = tellingCalls(trace).filter((k) => k > first.k)
      for (const second of faultsAt(trace, after)) {
        failures.push(...(await failuresOf(scene, [first, second])))
        runs += 1
      }
    }
  }
  return { failures, runs }
}

test.runIf(only !== undefined)('the one run that CRASH_POINT names', async () => {
  const { scene, points } = ofKey(only ?? '')
  const { trace, violations } = await runOnce(shop, scene, points)
  expect(violations, trace.map((call, k) => `${k} ${call}`).join('\n')).toEqual([])
})

test.skipIf(only !== undefined)(
  'a purchase ends well whatever goes wrong at one call',
  async () => {
    const failures: string[] = []
    let runs = 0
    for (const scene of cases) {
      for (const fault of faultsIn(await faultlessTrace(scene))) {
        failures.push(...(await failuresOf(scene, [fault])))
        runs += 1
      }
    }
    expect(failures).toEqual([])
    expect(runs).toBeGreaterThan(9_000)
  },
)

test.skipIf(only !== undefined)('a request that the same request overtakes ends well', async () => {
  const { failures, runs } = await failuresOfPairs(cases.filter(isOvertaken), isEarlyStall)
  expect(failures).toEqual([])
  expect(runs).toBeGreaterThan(1_000)
})

test.skipIf(only !== undefined)(
  'a node that lets go of an order too late takes it from nobody',
  async () => {
    const { failures, runs } = await failuresOfPairs(cases.filter(isSlow), isLateRelease)
    expect(failures).toEqual([])
    expect(runs).toBeGreaterThan(200)
  },
)

test.skipIf(only !== undefined)('a purchase ends well when two things go wrong', async () => {
  const random = seeded(seed)
  const pick = <T>(from: readonly T[]): T | undefined => from[Math.floor(random() * from.length)]
  const traces = await Promise.all(cases.map(faultlessTrace))
  const failures: string[] = []
  let runs = 0
  while (runs < pairsOfFaults) {
    const [scene, trace] = pick(cases.map((each, at) => [each, traces[at] ?? []] as const)) ?? []
    const first = trace && pick(faultsIn(trace))
    if (!scene || !first) throw new Error('A case has no calls that could go wrong')
    const after = (await runOnce(shop, scene, [first])).trace
    const next = [...after.keys()].slice(first.k + 1, first.k + 1 + soon)
    const second = pick(faultsAt(after, next))
    if (second) failures.push(...(await failuresOf(scene, [first, second])))
    runs += 1
  }
  expect(failures).toEqual([])
})
