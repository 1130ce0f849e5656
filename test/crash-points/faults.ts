import {
  Injected,
  intercepted,
  mayArriveLate,
  type Node,
  unanswered,
  writes,
} from '../model/calls.ts'
import type { HandClock } from '../model/clock.ts'

/** The faults of a call of a port. */
export const outcomes = [
  'crash-before',
  'crash-after',
  'error-before',
  'error-after',
  'timeout-not',
  'timeout-done',
  'late',
  'stall-before',
  'stall-after',
  'freeze-before',
  'freeze-after',
  'stop-before',
] as const
export type Outcome = (typeof outcomes)[number]

/** One fault: the index of the call in the whole run, counted over all nodes from 0, and its outcome. */
export interface Point {
  readonly k: number
  readonly outcome: Outcome
}

/** The parts of the world that faults affect. */
export interface FaultWorld {
  readonly clock: HandClock
  /** Every call so far, as its method and the state of the order. */
  readonly trace: string[]
  readonly points: readonly Point[]
  /** The state of the order, which distinguishes calls of the same method. */
  phase(): string
  /** Lets the rest of the store go on while one node stands still. */
  others(howLong: 'stall' | 'freeze'): Promise<void>
}

interface Call {
  readonly world: FaultWorld
  readonly node: Node
  readonly method: string
  readonly run: () => Promise<unknown>
}

const timeoutMs = 10_000
const lateMs = 20_000

/** The outcomes that make a difference for calls of this method. */
export function outcomesOf(method: string): readonly Outcome[] {
  return outcomes.filter((outcome) => {
    if (outcome === 'late') return mayArriveLate.has(method)
    if (method === 'wait') return !/^(error|timeout)/.test(outcome) && !outcome.endsWith('-after')
    if (/^(crash|error)-after$|^timeout-done$/.test(outcome)) return writes.has(method)
    return true
  })
}

/** Wraps a port for one node: counts every call, and applies the faults of the run. */
export function through<T extends object>(world: FaultWorld, node: Node, port: T): T {
  return intercepted(port, (method, run) => call({ world, node, method, run }))
}

async function call(made: Call): Promise<unknown> {
  const { world, node, method, run } = made
  if (node.dead) return new Promise(() => {})
  const k = world.trace.push(`${method}@${world.phase()}`) - 1
  const point = world.points.find((candidate) => candidate.k === k)
  return point && outcomesOf(method).includes(point.outcome) ? effects[point.outcome](made) : run()
}

function lost({ node }: Call): Promise<never> {
  node.die()
  return new Promise(() => {})
}

function noAnswer({ world, method }: Call): unknown {
  world.clock.pass(timeoutMs)
  if (method in unanswered) return unanswered[method]
  throw new Injected(`${method}: no answer in time`)
}

async function standingBefore({ world, run }: Call, howLong: 'stall' | 'freeze') {
  await world.others(howLong)
  return run()
}

async function standingAfter({ world, run }: Call, howLong: 'stall' | 'freeze') {
  const answer = await run()
  await world.others(howLong)
  return answer
}

const effects: Readonly<Record<Outcome, (made: Call) => Promise<unknown>>> = {
  'crash-before': lost,
  'crash-after': async (made) => {
    await made.run()
    return lost(made)
  },
  'error-before': async ({ method }) => {
    throw new Injected(`${method}: failed`)
  },
  'error-after': async ({ method, run }) => {
    await run()
    throw new Injected(`${method}: the answer was lost`)
  },
  'timeout-not': async (made) => noAnswer(made),
  'timeout-done': async (made) => {
    await made.run()
    return noAnswer(made)
  },
  late: async (made) => {
    made.world.clock.later(lateMs, () => void made.run())
    return noAnswer(made)
  },
  'stall-before': (made) => standingBefore(made, 'stall'),
  'stall-after': (made) => standingAfter(made, 'stall'),
  'freeze-before': (made) => standingBefore(made, 'freeze'),
  'freeze-after': (made) => standingAfter(made, 'freeze'),
  'stop-before': async ({ node, run }) => {
    node.stopping.abort()
    return run()
  },
}
