import {
  type Address,
  type Answer,
  askOnce,
  BadFraming,
  Closed,
  type Connection,
  NoAnswer,
  openConnection,
} from './connection.ts'
import type { Material } from './draft.ts'
import { type Input, inputOf } from './input.ts'
import { judge, judgeRaw } from './judge.ts'

/** The store under test. */
export interface Target {
  readonly address: Address
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[]
  /** Fetches fresh quotes and challenges of the store, which are valid for five minutes. */
  readonly material: () => Promise<Material>
}

export interface RunOptions {
  readonly seed: number
  /** The number of the first input, and of the one after the last. */
  readonly from: number
  readonly to: number
  readonly atOnce: number
}

/** An input with a wrong answer; its seed and number reproduce it. */
interface Failure {
  readonly number: number
  readonly name: string
  readonly problem: string
  readonly sent: string
}

export interface Findings {
  readonly failures: readonly Failure[]
  /** For each name of inputs, the number of answers by status; 0 is no answer. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<number, number>>
  readonly slowestMs: number
  readonly raw: number
}

/** A run stops after this many failures. */
const maxFailures = 25
/** Well within the five minutes for which quotes and challenges are valid. */
const materialMs = 100_000

/** Sends every input over TCP, several at once, and judges every answer. */
export async function run(target: Target, options: RunOptions): Promise<Findings> {
  const tally = newTally()
  const { seed, to, atOnce } = options
  let next = options.from
  let material = await target.material()
  let madeAt = performance.now()
  const refresh = async () => {
    if (performance.now() - madeAt < materialMs) return
    madeAt = performance.now()
    material = await target.material()
  }
  const worker = async () => {
    const line = lineTo(target.address, tally)
    while (next < to && tally.failures.length < maxFailures) {
      const number = next
      next += 1
      await refresh()
      await tryInput(target, line, inputOf(seed, number, material), tally)
    }
    await line.end()
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return tally
}

async function tryInput(target: Target, line: Line, input: Input, tally: Tally): Promise<void> {
  const startedAt = performance.now()
  try {
    if (input.isRaw) {
      tally.raw += 1
      const text = await askOnce(target.address, input.bytes)
      tally.count(input, Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0))
      tally.fail(input, judgeRaw(text, target), text)
    } else {
      const answer = await line.ask(input)
      tally.count(input, answer?.status ?? 0)
      if (answer) tally.fail(input, judge(input, answer, target), shownAnswer(answer))
    }
  } catch (error) {
    const isKnown =
      error instanceof NoAnswer || error instanceof Closed || error instanceof BadFraming
    if (!isKnown) throw error
    tally.fail(input, error.message, '')
  }
  tally.slowestMs = Math.max(tally.slowestMs, performance.now() - startedAt)
}

/** A connection to the store that is reopened after it was closed. */
interface Line {
  /** Undefined if the store closed the connection without an answer, which it may do for a large input. */
  ask(input: Input): Promise<Answer | undefined>
  end(): Promise<void>
}

/** The store answers a larger head and closes the connection at once, so the answer can get lost; bytes. */
const maxHead = 16_000

function lineTo(address: Address, tally: Tally): Line {
  let connection: Connection | undefined
  let last: Input | undefined
  const strayed = ({ message }: BadFraming) => {
    if (last) tally.fail(last, message, '')
  }
  const onceMore = async ({ bytes, method }: Input) => {
    connection = openConnection(address, strayed)
    try {
      return await connection.ask(bytes, method)
    } catch (error) {
      if (error instanceof Closed && bytes.length > maxHead) return undefined
      throw error
    }
  }
  return {
    async ask(input) {
      last = input
      if (!connection?.isOpen()) return onceMore(input)
      try {
        return await connection.ask(input.bytes, input.method)
      } catch (error) {
        // The store may close a connection between two requests. A new one shows whether the input was the cause.
        if (error instanceof Closed) return onceMore(input)
        throw error
      }
    },
    end: async () => connection?.end(),
  }
}

type Tally = ReturnType<typeof newTally>

function newTally() {
  const failures: Failure[] = []
  const answers = new Map<string, Map<number, number>>()
  return {
    failures,
    answers,
    slowestMs: 0,
    raw: 0,
    count({ name }: Input, status: number) {
      const statuses = answers.get(name) ?? new Map<number, number>()
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      answers.set(name, statuses)
    },
    fail({ number, name, bytes }: Input, problem: string | undefined, answered: string) {
      if (problem === undefined) return
      const text = answered === '' ? '' : `: ${answered.slice(0, 600)}`
      const sent = JSON.stringify(bytes.toString('latin1'))
      failures.push({ number, name, problem: `${problem}${text}`, sent })
    },
  }
}

function shownAnswer({ status, headers, body }: Answer): string {
  return `${status} ${[...headers].map((pair) => pair.join(': ')).join('; ')} ${body}`
}
