import type { Input } from './inputs.ts'
import { faultOf } from './judge.ts'
import type { Answer } from './send.ts'

/** No input may keep the main thread busy for longer than this; milliseconds. */
const maxThreadMs = 20
/** A signed payment is checked with the chain and the database, in many short turns of the main thread. */
const maxPaymentMs = 60

/** The store under test. */
export interface Target {
  readonly send: (input: Input) => Promise<Answer>
  /** CPU time of its main thread so far; milliseconds. */
  readonly threadMs: () => Promise<number>
  /** Texts that no answer may contain. */
  readonly secrets: readonly string[]
  /** Log lines with a secret. */
  readonly badLines: readonly string[]
}

export interface Trial {
  readonly status: number
  readonly threadMs: number
  /** What is wrong with the answer or its cost; undefined if nothing. */
  readonly fault: string | undefined
}

/** Sends one input, and judges the answer and what it cost. */
export async function tryInput(target: Target, input: Input): Promise<Trial> {
  const { answer, tookMs } = await measure(target, input)
  const { status } = answer
  const most = input.payment === undefined ? maxThreadMs : maxPaymentMs
  const threadMs = tookMs > most ? Math.min(tookMs, await leastMs(target, input)) : tookMs
  const slow =
    threadMs > most ? `it takes ${Math.round(threadMs)} ms of the main thread` : undefined
  const [line] = target.badLines
  const leak = line && `the log has a secret: ${line}`
  const fault = faultOf(input, answer, target.secrets) ?? leak ?? slow
  return { status, threadMs, fault }
}

async function measure({ send, threadMs }: Target, input: Input) {
  const before = await threadMs()
  const answer = await send(input)
  return { answer, tookMs: (await threadMs()) - before }
}

/** The least of three more times, so that garbage of others or a look of the sweep does not count. */
async function leastMs(target: Target, input: Input): Promise<number> {
  const times: number[] = []
  for (const turn of [1, 2, 3]) times.push((await measure(target, varied(input, turn))).tookMs)
  return Math.min(...times)
}

/** The same work under another address, because the store keeps answers for a while. */
function varied(input: Input, turn: number): Input {
  if (input.method !== 'GET') return input
  const page = input.path === '/search' ? 'page' : 'offset'
  const others = input.query.filter(([name]) => name !== page)
  return { ...input, query: [...others, [page, String(40 + turn)]] }
}
