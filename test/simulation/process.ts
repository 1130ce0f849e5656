import {
  Injected,
  intercepted,
  mayArriveLate,
  type Node,
  newNode,
  unanswered,
  writes,
} from '../model/calls.ts'
import type { Scheduler } from './scheduler.ts'
import type { Trace } from './trace.ts'

/** One process of the store on one node. */
export interface Process extends Node {
  readonly node: number
  /** Until when the process stands still; epoch milliseconds. */
  pausedUntil: number
  /** The end of its last or current pause; epoch milliseconds. */
  lastPausedUntil: number
}

export function newProcess(id: number, node: number): Process {
  return Object.assign(newNode(id), { node, pausedUntil: 0, lastPausedUntil: -Infinity })
}

/** The origin of calls: a buyer's request, a sweep or a webhook. It has its own randomness. */
export interface Caller {
  readonly process: Process
  readonly name: string
  readonly random: () => number
}

/** The connection to an external part. */
export interface Line {
  readonly part: 'database' | 'chain' | 'supplier' | 'receiver'
  readonly latencyMs: number
  isDown(): boolean
}

export interface CallWorld {
  readonly time: Scheduler
  readonly trace: Trace
  readonly faultsPerMille: number
  /** The caller whose call has its effect at this moment. */
  acting: Caller | undefined
}

interface Call {
  readonly caller: Caller
  readonly line: Line
  readonly method: string
  readonly given: readonly unknown[]
  readonly run: () => Promise<unknown>
}

type Fault = 'none' | 'refused' | 'request lost' | 'answer lost' | 'late'

const timeoutMs = 10_000
const maxLateMs: Readonly<Record<Line['part'], number>> = {
  // The server cancels a statement after this.
  database: 10_000,
  chain: 20_000,
  supplier: 20_000,
  receiver: 20_000,
}

/** Wraps a port for one caller: adds latency, and sometimes faults. */
export function through<T extends object>(
  world: CallWorld,
  caller: Caller,
  line: Line,
  port: T,
): T {
  return intercepted(port, (method, run, given) =>
    call(world, { caller, line, method, given, run }),
  )
}

/** Resolves when the process may go on: not while it is paused, and never if it is dead. */
export async function awake({ time }: Pick<CallWorld, 'time'>, process: Process): Promise<void> {
  while (time.time() < process.pausedUntil) await time.sleep(process.pausedUntil - time.time())
  if (process.dead) await never()
}

function never(): Promise<never> {
  return new Promise(() => {})
}

async function call(world: CallWorld, made: Call): Promise<unknown> {
  const { caller, line } = made
  const { process, random } = caller
  if (process.dead) return never()
  const [there, back, drawn, which] = [random(), random(), random(), random()]
  const isSlow = which > 0.97 ? 10 : 1
  const fault = line.isDown() ? 'refused' : faultOf(world, made, drawn, which)
  const sentAt = world.time.time()
  await world.time.sleep(line.latencyMs * there * isSlow)
  // A dying process may or may not have sent the request.
  if (process.dead && which < 0.5) return never()
  const answer = await settled(() => effects[fault](world, made))
  await world.time.sleep(line.latencyMs * back)
  await awake(world, process)
  const isStale = world.time.time() - sentAt > timeoutMs + 5_000 && back < 0.5
  const final = isStale ? noAnswer(made) : answer
  world.trace.note(caller.name, made, fault, final)
  if (final.status === 'rejected') throw final.reason
  return final.value
}

type Answer = PromiseSettledResult<unknown>

async function settled(act: () => Promise<unknown>): Promise<Answer> {
  const [answer] = await Promise.allSettled([act()])
  return answer
}

function faultOf(world: CallWorld, made: Call, drawn: number, which: number): Fault {
  if (drawn * 1_000 >= world.faultsPerMille) return 'none'
  const isWrite = writes.has(made.method)
  const canBeLate =
    mayArriveLate.has(made.method) || made.method === 'open' || made.method === 'move'
  const faults: readonly Fault[] = [
    'refused',
    'request lost',
    ...(isWrite ? (['answer lost', 'answer lost'] as const) : []),
    ...(canBeLate ? (['late'] as const) : []),
  ]
  return faults[Math.floor(which * faults.length)] ?? 'refused'
}

function noAnswer({ method }: Call): Answer {
  if (method in unanswered) return { status: 'fulfilled', value: unanswered[method] }
  return { status: 'rejected', reason: new Injected(`${method}: no answer in time`) }
}

/** Carries out the call at this moment, with its caller as `acting`. */
function act(world: CallWorld, { caller, run }: Call): Promise<unknown> {
  world.acting = caller
  const running = run()
  world.acting = undefined
  return running
}

function giveUp(made: Call): unknown {
  const answer = noAnswer(made)
  if (answer.status === 'rejected') throw answer.reason
  return answer.value
}

const effects: Readonly<Record<Fault, (world: CallWorld, made: Call) => Promise<unknown>>> = {
  none: act,
  refused: async (_, made) => giveUp(made),
  'request lost': async ({ time }, made) => {
    await time.sleep(timeoutMs)
    return giveUp(made)
  },
  'answer lost': async (world, made) => {
    const done = await act(world, made)
    await world.time.sleep(timeoutMs)
    return lookedUp(made, done) ?? giveUp(made)
  },
  late: async (world, made) => {
    await world.time.sleep(timeoutMs)
    const lateBy = maxLateMs[made.line.part] * made.caller.random()
    world.time.later(lateBy, () => void act(world, made).catch(() => undefined))
    return giveUp(made)
  },
}

/**
 * After a lost answer, a write of an order looks up whether it is in the row, and then reports what it wrote
 * (adapters/storage/orders.ts). Half of the time the look-up fails as well.
 */
function lookedUp({ caller, method }: Call, done: unknown): unknown {
  return (method === 'open' || method === 'move') && caller.random() < 0.5 ? done : undefined
}
