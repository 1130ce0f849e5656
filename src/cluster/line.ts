import type { Taken } from '../http/rate-limit.ts'
import { within } from '../primitives/within.ts'
import type { CountedNumbers } from './numbers.ts'

/** One request to be counted: the name of the limit, what to do, and the client. */
export type CountAsk = readonly [limit: string, what: 'take' | 'look', key: string]

/** What a worker and its primary ask of each other. Everything is written as JSON on its way. */
export interface Questions {
  /** Worker to primary: the secrets, which are not in the environment that it was started with. */
  secrets: { asks: null; answer: Readonly<Record<string, string>> }
  /** Worker to primary: it listens, and this is what it has on sale. */
  ready: {
    asks: { readonly offers: number; readonly setAside: number; readonly readAt: string }
    answer: null
  }
  /** Worker to primary: it cannot go on. */
  failed: { asks: { readonly reason: string; readonly isFinal: boolean }; answer: null }
  /** Worker to primary: requests to be counted, in this order. */
  count: { asks: readonly CountAsk[]; answer: readonly Taken[] }
  /** Worker to primary: test money for this address; answers the transaction. */
  faucet: { asks: string; answer: string }
  /** Worker to primary: what all workers counted, in the Prometheus text format. */
  numbers: { asks: null; answer: string }
  /** Primary to worker: what it counted. */
  counted: { asks: null; answer: CountedNumbers }
}
type Name = keyof Questions

/** One end of the channel between two processes. */
export interface Wire {
  /** Calls `failed` when the message did not leave. */
  send(message: unknown, failed: (error: Error) => void): void
  listen(hear: (message: unknown) => void): void
}

/** Questions and answers over a channel that carries one-way messages. */
export interface Line {
  /** @throws when the other side is gone, cannot answer, or takes longer than that */
  ask<N extends Name>(
    name: N,
    value: Questions[N]['asks'],
    withinMs: number,
  ): Promise<Questions[N]['answer']>
  /** Says how questions of that name are answered. */
  answer<N extends Name>(name: N, how: Answerer<N>): void
}

type Answerer<N extends Name> = (
  value: Questions[N]['asks'],
) => Questions[N]['answer'] | Promise<Questions[N]['answer']>

/** Written by ourselves, for the same version of ourselves. */
type Message =
  | { readonly ask: Name; readonly id: number; readonly value: unknown }
  | { readonly answerTo: number; readonly value?: unknown; readonly error?: string }

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export function createLine(wire: Wire): Line {
  const waiting = new Map<number, Waiting>()
  const answerers = new Map<Name, (value: unknown) => unknown>()
  let lastId = 0

  async function answer(name: Name, id: number, value: unknown): Promise<void> {
    // Who asked has stopped waiting when the answer cannot reach it: there is nobody to tell.
    const reply = (message: Message) => wire.send(message, () => undefined)
    try {
      const how = answerers.get(name)
      if (how === undefined) throw new Error(`Nobody answers "${name}" here`)
      reply({ answerTo: id, value: await how(value) })
    } catch (error) {
      reply({ answerTo: id, error: error instanceof Error ? error.message : String(error) })
    }
  }

  wire.listen((heard) => {
    const message = heard as Message
    if ('ask' in message) return void answer(message.ask, message.id, message.value)
    const asker = waiting.get(message.answerTo)
    if (message.error === undefined) asker?.resolve(message.value)
    else asker?.reject(new Error(message.error))
  })

  return {
    async ask(name, value, withinMs) {
      lastId += 1
      const id = lastId
      const { promise, resolve, reject } = Promise.withResolvers<never>()
      waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
      const message: Message = { ask: name, id, value }
      wire.send(message, reject)
      try {
        const late = `"${name}" was not answered within ${withinMs} ms`
        return await within(withinMs, promise, late)
      } finally {
        waiting.delete(id)
      }
    },
    answer(name, how) {
      answerers.set(name, how as (value: unknown) => unknown)
    },
  }
}
