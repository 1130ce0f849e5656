import { parseArgs } from 'node:util'
import { wholeNumber } from '../harness/arguments.ts'
import type { Size } from './scenario.ts'

export interface Wanted {
  readonly size: Size
  /** The first seed. */
  readonly seed: number
  readonly runs: number
  /** Runs for this long instead of a number of runs. */
  readonly minutes: number | undefined
  /** The file that the totals of all runs are appended to. */
  readonly figures: string | undefined
}

/** @throws Error with a message for the user, if an argument is unknown or out of range */
export function readArguments(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string', default: '1' },
      runs: { type: 'string', default: '100' },
      orders: { type: 'string', default: '30' },
      nodes: { type: 'string', default: '3' },
      minutes: { type: 'string' },
      figures: { type: 'string' },
    },
  })
  const { seed, runs, orders, nodes, minutes, figures } = values
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
    figures,
  }
}
