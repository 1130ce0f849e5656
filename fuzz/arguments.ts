import { parseArgs } from 'node:util'
import { wholeNumber } from '../test/harness/arguments.ts'

export interface Wanted {
  readonly inputs: number
  readonly seed: number
  /** The number of the one input to send; undefined: all of them. */
  readonly only: number | undefined
}

const maxInputs = 1_000_000_000

/** @throws Error with a message for the user, if an argument is unknown or out of range */
export function readArguments(args: readonly string[]): Wanted {
  const { values } = parseArgs({
    args: [...args],
    options: {
      inputs: { type: 'string', default: '100000' },
      seed: { type: 'string', default: '1' },
      only: { type: 'string' },
    },
  })
  const { inputs, seed, only } = values
  return {
    inputs: wholeNumber('--inputs', inputs, { least: 1, most: maxInputs }),
    seed: wholeNumber('--seed', seed, { least: 0, most: 2 ** 31 }),
    only:
      only === undefined
        ? undefined
        : wholeNumber('--only', only, { least: 0, most: maxInputs - 1 }),
  }
}
