import fc from 'fast-check'
import { kinds } from '../../src/catalog/offer.ts'
import type { Manner } from '../model/supplier.ts'
import { type SupplierManner, suppliers } from '../model/suppliers.ts'
import { type CheckoutSpec, checkout } from './coins.ts'

/** The manners of the crash points, and some that only matter with many concurrent calls. */
export const manners: Readonly<Record<SimulatedManner, Manner>> = {
  ...suppliers,
  // The grace is an hour here.
  'delivers-after-grace': { endsAfterMs: 5_400_000 },
  'out-of-date': { staleMs: 25_000, endsAfterMs: 10_000 },
  'hides-long': { hiddenMs: 40_000, endsAfterMs: 45_000 },
  'fails-late-and-stale': { staleMs: 20_000, endsAfterMs: 120_000, fails: true },
}
export type SimulatedManner = SupplierManner | 'out-of-date' | 'hides-long' | 'fails-late-and-stale'

type ValueOf<A> = A extends fc.Arbitrary<infer T> ? T : never

/** Picks one of these words by weight. The first is the simplest, which shrinking prefers. */
function often<T extends string>(weights: Readonly<Record<T, number>>): fc.Arbitrary<T> {
  const words = Object.entries<number>(weights).flatMap(([word, times]) => Array(times).fill(word))
  return fc.constantFrom(...(words as T[]))
}

const habits = {
  /** Repeats the same payment until it gets an answer about its order. */
  retries: 10,
  /** Also sends it to two nodes at once. */
  duplicates: 6,
  /** Signs a new payment for every other try until there is an answer: under the same key, or without one. */
  'pays-anew': 5,
  'gives-up': 2,
  /** Sends the used payment again for other goods. */
  'changes-the-body': 2,
  /** Pays long after it was told the price. */
  dawdles: 2,
  /** First pays for a card what a topup costs. */
  haggles: 2,
} as const

const tricks = {
  none: 20,
  /** The payment lands in somebody else's transaction. */
  'front-run': 2,
  cancels: 2,
  'spends-elsewhere': 2,
  'empties-wallet': 1,
  /** Cancels the authorization when a reorg drops the payment. */
  'cancels-in-reorg': 4,
} as const

const buyer = fc.record({
  /** Identifies the buyer independently of others, so that it meets the same faults without them. */
  luck: fc.noShrink(fc.nat({ max: 0x7fff_ffff })),
  kind: fc.constantFrom(...kinds),
  wallet: fc.nat({ max: 4 }),
  /** Whether the wallet has the money for this purchase. */
  isFunded: often({ yes: 15, no: 1 }),
  atSeconds: fc.nat({ max: 240 }),
  node: fc.nat({ max: 2 }),
  hasKey: often({ yes: 3, no: 1 }),
  habit: often(habits),
  trick: often(tricks),
  trickAfterMs: fc.nat({ max: 40_000 }),
  lands: often({ soon: 12, slowly: 3, 'second-try': 1, never: 1 }),
  supplier: often<SimulatedManner>({
    'at-once': 24,
    slowly: 12,
    'shows-late': 9,
    'out-of-date': 12,
    'hides-long': 6,
    'loses-first': 9,
    'loses-all': 4,
    declines: 9,
    'fails-later': 6,
    'fails-late-and-stale': 6,
    'fails-after-expiry': 6,
    'delivers-after-expiry': 6,
    'delivers-after-grace': 3,
    'accepts-and-hides': 6,
    'hides-past-expiry': 2,
    'refuses-repeats': 6,
    'takes-unseen': 3,
    'keeps-returned': 3,
    // Such an order is watched for three days, which takes longer to simulate than everything else.
    hangs: 1,
  }),
  /** The supplier's. */
  webhooks: often({ told: 3, lost: 1, repeated: 2 }),
  /** Its own. */
  webhook: often({ none: 3, works: 2, fails: 1 }),
  /** A stranger sends the signature again, which is public on the chain. */
  isCopied: often({ no: 2, yes: 1 }),
  claims: often({ no: 2, yes: 1 }),
})
export type BuyerSpec = ValueOf<typeof buyer>

const faults = fc.record({
  type: often({
    crash: 4,
    pause: 10,
    stop: 2,
    'database-down': 2,
    'chain-down': 2,
    'supplier-down': 2,
    reorg: 8,
    'rpc-lags': 3,
    'token-paused': 1,
    'float-gone': 2,
    'refunds-stopped': 1,
    'payer-blacklisted': 1,
  }),
  /** The node or the wallet that it affects. */
  which: fc.nat({ max: 4 }),
  atSeconds: fc.nat({ max: 400 }),
  lastsSeconds: fc.integer({ min: 1, max: 120 }),
  /** The length of a reorg or a lag; blocks. */
  blocks: fc.integer({ min: 1, max: 14 }),
})
export type FaultSpec = ValueOf<typeof faults>

export interface Scenario {
  readonly buyers: readonly BuyerSpec[]
  readonly faults: readonly FaultSpec[]
  /** Purchases in coins, each in a world of its own. */
  readonly checkouts: readonly CheckoutSpec[]
  /** The clock skew of each node before `skewOf` scales it; milliseconds. */
  readonly skewsMs: readonly number[]
  /** The number of calls in a thousand that fail. */
  readonly faultsPerMille: number
  readonly caps: 'wide' | 'tight'
  readonly clocks: 'near' | 'wild'
}

/** The largest clock skew with which no loss at the supplier may go unnoticed. */
export const nearSkewMs = 20_000
const wildSkewMs = 300_000

export interface Size {
  readonly orders: number
  readonly nodes: number
}

/** Scenarios of exactly this size, or of up to this size, which a failing one shrinks to. */
export function scenarios(
  { orders, nodes }: Size,
  atLeast: 'exactly' | 'fewer',
): fc.Arbitrary<Scenario> {
  const list = <T>(each: fc.Arbitrary<T>, most: number) =>
    fc.array(each, { minLength: atLeast === 'exactly' ? most : 0, maxLength: most, size: 'max' })
  return fc.record({
    buyers: list(buyer, orders),
    faults: list(faults, Math.ceil(orders / 2) + 6),
    checkouts: list(checkout, Math.ceil(orders / 3)),
    skewsMs: fc.array(fc.integer({ min: -wildSkewMs, max: wildSkewMs }), {
      minLength: nodes,
      maxLength: nodes,
    }),
    faultsPerMille: fc.nat({ max: 60 }),
    caps: often({ wide: 3, tight: 1 }),
    clocks: often({ near: 4, wild: 1 }),
  })
}

/** The scenario of this seed. */
export function scenarioOf(seed: number, size: Size): Scenario {
  const [scenario] = fc.sample(fc.noBias(scenarios(size, 'exactly')), { seed, numRuns: 1 })
  if (!scenario) throw new Error(`There is no scenario for the seed ${seed}`)
  return scenario
}

/** The clock skew of this node; large only with wild clocks. */
export function skewOf({ skewsMs, clocks }: Scenario, node: number): number {
  const skew = skewsMs[node] ?? 0
  return clocks === 'wild' ? skew : Math.trunc((skew * nearSkewMs) / wildSkewMs)
}
