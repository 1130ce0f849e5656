import type { Socket } from 'node:net'
import type { Taken } from '../http/rate-limit.ts'
import { within } from '../lib/within.ts'
import type { CountedNumbers } from './numbers.ts'

/** One request to be counted: the name of the limit, what to do, and the client. */
export type CountAsk = readonly [limit: string, what: 'take' | 'look', key: string]

/** What a worker and its primary ask of each other. Everything is written as JSON on its way. */
export interface Questions {
  /** Worker to primary: the secrets, which are not in the environment that it was started with. */
  secrets: { asks: null; answer: Readonly<Record<string, string>> }
  /** Worker to primary: it listens, and this is what it has on sale. */
  ready: {
    asks: { readonly offers: number; readonly rejected: number; readonly readAt: string }
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
  /** Primary to worker: serve the connection that comes along. */
  take: { asks: null; answer: boolean }
}
type Name = keyof Questions

/** One end of the channel between two processes. */
export interface Wire {
  /** Calls `failed` when the message did not leave. */
  send(message: unknown, failed: (error: Error) => void, connection?: Socket): void
  listen(hear: (message: unknown, connection?: Socket) => void): void
}

/** Questions and answers over a channel that carries one-way messages. */
export interface Line {
  /** @throws when the other side is gone, cannot answer, or takes longer than that */
  ask<N extends Name>(
    name: N,
    value: Questions[N]['asks'],
    withinMs: number,
  ): Promise<Questions[N]['answer']>
  /** Hands a connection over, for as long as it takes. @throws when the other side is gone */
  hand(connection: Socket): Promise<Questions['take']['answer']>
  /** The other side is gone, and answers nothing any more. */
  hangUp(): void
  /** Says how questions of that name are answered. */
  answer<N extends Name>(name: N, how: Answerer<N>): void
}

type Answerer<N extends Name> = (
  value: Questions[N]['asks'],
  /** Undefined where it was closed on its way. */
  connection: Socket | undefined,
) => Questions[N]['answer'] | Promise<Questions[N]['answer']>

interface Question {
  readonly ask: Name
  readonly id: number
  readonly value: unknown
}

/** Written by ourselves, for the same version of ourselves. */
type Message =
  | Question
  | { readonly answerTo: number; readonly value?: unknown; readonly error?: string }

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export function createLine(wire: Wire): Line {
  const waiting = new Map<number, Waiting>()
  const answerers = new Map<Name, (value: unknown, connection?: Socket) => unknown>()
  let lastId = 0

  /** Asks, and listens to the answer until it is forgotten. */
  function question(name: Name, value: unknown, connection?: Socket) {
    lastId += 1
    const id = lastId
    const { promise, resolve, reject } = Promise.withResolvers<never>()
    waiting.set(id, { resolve: resolve as (value: unknown) => void, reject })
    const message: Message = { ask: name, id, value }
    wire.send(message, reject, connection)
    return { promise, forget: () => waiting.delete(id) }
  }

  async function answer(
    { ask: name, id, value }: Question,
    connection: Socket | undefined,
  ): Promise<void> {
    // Who asked has stopped waiting when the answer cannot reach it: there is nobody to tell.
    const reply = (message: Message) => wire.send(message, () => undefined)
    try {
      const how = answerers.get(name)
      if (how === undefined) throw new Error(`Nobody answers "${name}" here`)
      reply({ answerTo: id, value: await how(value, connection) })
    } catch (error) {
      reply({ answerTo: id, error: error instanceof Error ? error.message : String(error) })
    }
  }

  wire.listen((heard, connection) => {
    const message = heard as Message
    if ('ask' in message) return void answer(message, connection)
    const asker = waiting.get(message.answerTo)
    if (message.error === undefined) asker?.resolve(message.value)
    else asker?.reject(new Error(message.error))
  })

  return {
    async ask(name, value, withinMs) {
      const { promise, forget } = question(name, value)
      try {
        const late = `"${name}" was not answered within ${withinMs} ms`
        return await within(withinMs, promise, late)
      } finally {
        forget()
      }
    },
    hand(connection) {
      const { promise, forget } = question('take', null, connection)
      return promise.finally(forget)
    },
    hangUp() {
      for (const { reject } of waiting.values()) reject(new Error('The other side is gone'))
    },
    answer(name, how) {
      answerers.set(name, how as (value: unknown, connection?: Socket) => unknown)
    },
  }
}
