import { never } from '../lib/errors.ts'
import { within } from '../lib/scheduling.ts'

/** A record that is carried to its end step by step, by one worker at a time: an order or a checkout. */
export interface Workflow {
  readonly id: string
  /** Counts the writes. A write that is based on an older version is refused. */
  readonly version: number
}

/** Milliseconds. Every write renews the lease, and every outside call ends well before it: one worker at a time. */
export const leaseMs = 45_000

/** The stored record after a move: this worker's if it won, or else the one that another worker wrote first. */
export interface Moved<W> {
  readonly won: boolean
  readonly record: W
}

export interface WorkflowStore<W> {
  /** Replaces the record, only if nobody moved it since `from` was read, and renews the lease. */
  move(from: W, to: W): Promise<Moved<W>>
  /** Ends the lease; the record is looked at again after that many milliseconds. */
  release(record: W, againInMs: number): Promise<void>
}

export type Step<To extends W, W = To> =
  | { readonly type: 'move'; readonly to: To }
  | Intention<To, W>
  | Lesson<To, W>
  /** Nothing can be done before that many milliseconds have passed. */
  | { readonly type: 'wait'; readonly ms: number }
  | { readonly type: 'rest' }

/** Commits the record first and only then runs the effect, so that all it does outside is on record at a crash. */
interface Intention<To extends W, W> {
  readonly type: 'intend'
  readonly to: To
  /** Gets `to` as it was saved. A method, whose parameter is bivariant: a step to one state is a `Step<W>` then. */
  effect(intended: To): Promise<Step<W>>
}

/** A fact that stays true is written even if another worker moved the record: nobody may ever report it again. */
interface Lesson<To extends W, W> {
  readonly type: 'learn'
  readonly to: To
  /** The record as it is stored now, with the fact; undefined if that adds nothing. */
  onto(stored: W): W | undefined
  effect(learnt: To): Promise<Step<W>>
}

export const rest = { type: 'rest' } as const

export function wait(ms: number) {
  return { type: 'wait', ms } as const
}

export function moveTo<To>(to: To) {
  return { type: 'move', to } as const
}

export function intend<To, Then>(to: To, effect: (intended: To) => Promise<Then>) {
  return { type: 'intend', to, effect } as const
}

export function learn<To, W, Then>(
  to: To,
  onto: (stored: W) => W | undefined,
  effect: (learnt: To) => Promise<Then>,
) {
  return { type: 'learn', to, onto, effect } as const
}

/** How many milliseconds to wait before asking again: few while it is new, and more the older it is. */
export function pollDelay(since: Date, now: Date, maxMs = 15_000): number {
  const ageMs = now.getTime() - since.getTime()
  return Math.min(maxMs, Math.max(250, ageMs / 4))
}

export interface Flow<W extends Workflow> {
  readonly store: Pick<WorkflowStore<W>, 'move' | 'release'>
  readonly next: (record: W) => Promise<Step<W>>
  /** Whether the write that produced this record has also ended its lease. */
  readonly isLeft?: (record: W) => boolean
  readonly now: () => Date
  /** Aborted when this process is about to end. A record that would have to wait is left to another's sweep. */
  readonly stopping: AbortSignal
}

export interface Patience<W> {
  readonly ms: number
  isFor(record: W): boolean
  wait(record: W, ms: number): Promise<void>
}

/** Moves a record on from outside of its flow, and leaves it to the sweep. */
export async function moveAside<W extends Workflow>(
  store: Flow<W>['store'],
  from: W,
  to: W,
): Promise<Moved<W>> {
  const moved = await store.move(from, to)
  if (moved.won) await store.release(moved.record, 0)
  return moved
}

/** More than any record needs. One that moves in circles must not hold its worker for ever. */
const maxMoves = 20
const circlePauseMs = 15_000

/**
 * A live request, the sweep and a restart all come through here. The caller holds the lease, which is given up on the
 * way out.
 */
export async function carry<W extends Workflow>(
  flow: Flow<W>,
  record: W,
  patience?: Patience<W>,
): Promise<W> {
  const until = flow.now().getTime() + (patience?.ms ?? 0)
  let at: Position<W> = { record, step: await flow.next(record), movesLeft: maxMoves }
  while (at.step.type !== 'rest') at = await takeStep(flow, at, { patience, until })
  return at.record
}

interface Position<W> {
  readonly record: W
  readonly step: Step<W>
  readonly movesLeft: number
}

interface Waiting<W> {
  readonly patience: Patience<W> | undefined
  readonly until: number
}

async function takeStep<W extends Workflow>(
  flow: Flow<W>,
  at: Position<W>,
  waiting: Waiting<W>,
): Promise<Position<W>> {
  const { step, movesLeft } = at
  switch (step.type) {
    case 'move':
    case 'intend':
    case 'learn':
      return movesLeft === 0 ? leave(flow, at, circlePauseMs) : write(flow, at, step)
    case 'wait':
      return pause(flow, at, step.ms, waiting)
    case 'rest':
      return at
    default:
      return never(step)
  }
}

async function write<W extends Workflow>(
  flow: Flow<W>,
  at: Position<W>,
  step: Extract<Step<W>, { to: W }>,
): Promise<Position<W>> {
  const { won, record } = await flow.store.move(at.record, step.to)
  if (!won && step.type === 'learn') await insist(flow, record, step)
  if (!won || flow.isLeft?.(record)) return { ...at, record, step: rest }
  const after = step.type === 'move' ? flow.next(record) : step.effect(record)
  return { record, step: await after, movesLeft: at.movesLeft - 1 }
}

/** Writes the fact onto the record as others have left it, and leaves the record to the sweep. */
async function insist<W extends Workflow>(
  { store }: Flow<W>,
  stored: W,
  lesson: Lesson<W, W>,
): Promise<void> {
  let current = stored
  for (let tries = 0; tries < maxMoves; tries += 1) {
    const to = lesson.onto(current)
    if (!to) return
    const { won, record } = await store.move(current, to)
    if (won) return store.release(record, 0)
    current = record
  }
}

async function pause<W extends Workflow>(
  flow: Flow<W>,
  at: Position<W>,
  ms: number,
  { patience, until }: Waiting<W>,
): Promise<Position<W>> {
  if (flow.stopping.aborted) return leave(flow, at, 0)
  const leftMs = patience?.isFor(at.record) ? until - flow.now().getTime() : 0
  if (!patience || leftMs <= 0) return leave(flow, at, ms)
  await patience.wait(at.record, Math.min(ms, leftMs))
  return { ...at, step: await flow.next(at.record) }
}

async function leave<W extends Workflow>(
  { store }: Flow<W>,
  at: Position<W>,
  againInMs: number,
): Promise<Position<W>> {
  await store.release(at.record, againInMs)
  return { ...at, step: rest }
}

/** Goes on with work that a crash, a slow dependency or an impatient client left behind. */
export interface Sweeper {
  /** Starts work on what is due, as far as there is room, and does not wait for the result. */
  look(most: number): Promise<void>
  /** Resolves when nothing is under way any more. */
  settled(): Promise<void>
}

interface Swept<T> {
  claimDue(limit: number): Promise<readonly T[]>
  handle(due: T): Promise<unknown>
  failed(due: T, error: unknown): void
  readonly atOnce: number
}

/** Slow work holds up no other. What hangs gives up its place; its lease has ended by then, so others can take it. */
export function createSweeper<T>({ claimDue, handle, failed, atOnce }: Swept<T>): Sweeper {
  const underWay = new Set<Promise<unknown>>()
  const start = (due: T) => {
    const place = within(2 * leaseMs, handle(due), 'It hangs.')
      .catch((error: unknown) => failed(due, error))
      .finally(() => underWay.delete(place))
    underWay.add(place)
  }
  return {
    async look(most) {
      const room = Math.min(most, atOnce - underWay.size)
      if (room <= 0) return
      for (const due of await claimDue(room)) start(due)
    },
    async settled() {
      await Promise.all(underWay)
    },
  }
}
