import { parseArgs } from 'node:util'
import { wholeNumber } from '../harness/arguments.ts'
import { modelShop } from '../model/shop.ts'
import { type Outcome, simulate } from './run.ts'
import type { Size } from './scenario.ts'
import { smallest } from './shrink.ts'

const hourMs = 3_600_000

/**
 * Runs one seed after the other, and prints a line for each. At the first violation it prints the life of that
 * order and the smallest scenario that still has a violation, and exits with 1.
 */
async function main(): Promise<number> {
  const { size, seed: first, runs, minutes } = readArguments(process.argv.slice(2))
  const until = minutes && Date.now() + minutes * 60_000
  const isOver = (seed: number) => (until ? Date.now() > until : seed >= first + runs)
  const shop = modelShop()
  let failed: Outcome | undefined
  for (let seed = first; !failed && !isOver(seed); seed += 1) {
    const outcome = await simulate(shop, seed, size)
    console.log(lineOf(outcome))
    if (outcome.violations.length > 0) failed = outcome
  }
  if (failed) await explain(failed, size)
  return failed ? 1 : 0
}

function lineOf({ seed, digest, orders, virtualMs, counts, violations }: Outcome): string {
  const calls = counts.get('calls') ?? 0
  const hours = (virtualMs / hourMs).toFixed(1)
  const end = violations.length === 0 ? 'ok' : violations.map(({ what }) => what).join('; ')
  return `seed ${seed}  ${digest}  ${orders} orders  ${calls} calls  ${hours} h  ${end}`
}

async function explain(outcome: Outcome, size: Size): Promise<void> {
  const [violation] = outcome.violations
  console.log(
    `\nThe order of the first violation:\n${outcome.linesOf(violation?.order).join('\n')}`,
  )
  const found = await smallest(modelShop(), outcome.seed, size)
  if (!found) return
  console.log(`\nThe smallest scenario found: ${found.violations.join('; ')}`)
  console.log(JSON.stringify(found.scenario, undefined, 2))
}

/** @throws Error with a message for the user, if an argument is unknown or out of range */
function readArguments(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string', default: '100' },
      orders: { type: 'string', default: '30' },
      nodes: { type: 'string', default: '3' },
      minutes: { type: 'string' },
    },
  })
  const { seed, runs, orders, nodes, minutes } = values
  return {
    size: {
      orders: wholeNumber('--orders', orders, { least: 1, most: 10_000 }),
      nodes: wholeNumber('--nodes', nodes, { least: 1, most: 100 }),
    },
    seed: wholeNumber('--seed', seed, { least: 0, most: 2 ** 31 }),
    runs: wholeNumber('--runs', runs, { least: 1, most: 1_000_000 }),
    minutes:
      minutes === undefined
        ? undefined
        : wholeNumber('--minutes', minutes, { least: 1, most: 100_000 }),
  }
}

process.exitCode = await main()
