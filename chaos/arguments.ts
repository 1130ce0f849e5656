import { parseArgs } from 'node:util'
import { type Range, wholeNumber } from '../test/harness/arguments.ts'

export interface Wanted {
  readonly seconds: number
  readonly seed: number
  readonly nodes: number
  readonly buyers: number
  /** No new purchases begin after this many, or after the time is over. */
  readonly orders: number
  readonly killEverySeconds: number
  /** The fulfilment deadline. A third of it is the refund grace; late goods come after twice of it. */
  readonly deadlineSeconds: number
  readonly endLeases: boolean
  /** Whether attackers of every sort run beside the buyers, at first without kills and faults. */
  readonly attackers: boolean
}

export const usage = `Kills the parts of a store under load, and audits what became of the money.

  npm run chaos -- [--seconds N] [--seed N] [--nodes N] [--buyers N] [--orders N]
                   [--kill-every N] [--deadline N] [--end-leases] [--attackers]

  --seconds N     how long there are purchases, faults and kills (default 120); longer where
                  not every part was killed by then
  --seed N        decides the choices of buyers, faults and kills (default 402); since real
                  processes take their own time, two runs of a seed are alike, not equal
  --nodes N       processes of the store on one database (default 2)
  --buyers N      wallets that buy at the same time (default 12)
  --orders N      no new purchases after so many (default and most: 12000, whose refunds
                  the caps of a store let through)
  --kill-every N  seconds between two kills, on average (default 5)
  --deadline N    seconds in which the store must have delivered (default 6)
  --end-leases    at the end kills all nodes at once and ends the leases of the dead, where it
                  else waits for them (45 s)
  --attackers     attackers beside the buyers: for a quarter of the time before it, and 60 s at
                  most, nothing else goes wrong, and no node may stop selling
  --help          this text

Exits with 0 when there were orders and each ended as goods or as a refund, once, else with 1.`

/** @throws Error with a message for the user, if an argument is unknown or out of range */
export function readArguments(args: readonly string[]): Wanted | 'help' {
  const text = { type: 'string' } as const
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: text,
      seed: text,
      nodes: text,
      buyers: text,
      orders: text,
      'kill-every': text,
      deadline: text,
      'end-leases': { type: 'boolean', default: false },
      attackers: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return 'help'
  return {
    seconds: numberOf('seconds', values.seconds, 120, { least: 1, most: 86_400 }),
    seed: numberOf('seed', values.seed, 402, { least: 0, most: 2 ** 31 }),
    nodes: numberOf('nodes', values.nodes, 2, { least: 1, most: 8 }),
    buyers: numberOf('buyers', values.buyers, 12, { least: 1, most: 200 }),
    orders: numberOf('orders', values.orders, 12_000, { least: 1, most: 12_000 }),
    killEverySeconds: numberOf('kill-every', values['kill-every'], 5, { least: 1, most: 3_600 }),
    deadlineSeconds: numberOf('deadline', values.deadline, 6, { least: 3, most: 600 }),
    endLeases: values['end-leases'],
    attackers: values.attackers,
  }
}

function numberOf(name: string, given: string | undefined, fallback: number, range: Range): number {
  return given === undefined ? fallback : wholeNumber(`--${name}`, given, range)
}
