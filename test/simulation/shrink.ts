import fc from 'fast-check'
import type { Shop } from '../model/shop.ts'
import { play } from './run.ts'
import { type Scenario, type Size, scenarioOf, scenarios } from './scenario.ts'
import type { Mutant } from './world.ts'

/** The most trials of smaller scenarios; nearly all scenarios are minimal by then. */
const maxTrials = 600

/**
 * The smallest scenario found that still has a violation, with its violations. Leaves out buyers and faults,
 * and simplifies the rest. Undefined if the seed has no violation.
 */
export async function smallest(
  shop: Shop,
  seed: number,
  size: Size,
  mutant?: Mutant,
): Promise<{ readonly scenario: Scenario; readonly violations: readonly string[] } | undefined> {
  let trials = 0
  let found: { scenario: Scenario; violations: readonly string[] } | undefined
  const property = fc.asyncProperty(scenarios(size, 'fewer'), async (scenario) => {
    trials += 1
    if (trials > maxTrials) return true
    const { violations } = await play(shop, seed, scenario, mutant)
    if (violations.length > 0) found = { scenario, violations: violations.map(({ what }) => what) }
    return violations.length === 0
  })
  await fc.check(property, { seed, numRuns: 1, examples: [[scenarioOf(seed, size)]] })
  return found
}
