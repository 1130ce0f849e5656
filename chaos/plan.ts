import { seeded } from '../test/model/random.ts'
import type { Kind } from '../test/stories/requests.ts'

/** What a buyer does in one purchase. Drawn from the seed before the purchase begins. */
export interface Plan {
  readonly kind: Kind
  /** The test offer of the supplier, by its outcome. */
  readonly outcome: string
  /** Sends an `Idempotency-Key`. */
  readonly keyed: boolean
  /** Sends the request twice at the same moment, to two nodes if there are two. */
  readonly twice: boolean
  /** Signs a new payment under the same key if the first answer is lost, as an agent does that restarted. */
  readonly signsAgain: boolean
  /** The number of calls after which the buyer gives up for good. */
  readonly leavesAfter: number
  /** Decides all further choices: nodes, pauses, patience. */
  readonly random: () => number
}

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']

/** The outcomes of the supplier's test offers, with their shares in percent. */
const outcomes: readonly (readonly [outcome: string, percent: number])[] = [
  ['OK', 42],
  ['LOST', 10],
  ['SLOW', 10],
  ['FAIL', 13],
  ['DECLINED', 11],
  ['LATE', 7],
  ['HANG', 7],
]

/** The plan depends on seed, buyer and count alone. */
export function planOf(seed: number, buyer: number, count: number): Plan {
  const random = seeded(Math.imul(seed, 1_000_003) ^ Math.imul(buyer + 1, 7_919) ^ (count << 12))
  const keyed = random() < 0.8
  return {
    kind: pick(random, kinds),
    outcome: weighted(random() * 100),
    keyed,
    twice: random() < 0.15,
    signsAgain: keyed && random() < 0.15,
    leavesAfter: random() < 0.1 ? 1 + Math.floor(random() * 3) : Number.POSITIVE_INFINITY,
    random,
  }
}

export function pick<T>(random: () => number, from: readonly T[]): T {
  const picked = from[Math.floor(random() * from.length)]
  if (picked === undefined) throw new Error('There is nothing to pick from.')
  return picked
}

function weighted(at: number): string {
  let sum = 0
  for (const [outcome, percent] of outcomes) {
    sum += percent
    if (at < sum) return outcome
  }
  return 'OK'
}
