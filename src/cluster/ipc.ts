import type { Socket } from 'node:net'
import type { RateLimitResult } from '../http/rate-limit.ts'
import { within } from '../lib/within.ts'
import type { MetricValues } from './metrics.ts'

/** A client request to count: the name of the rate limit, the action, and the client's key. */
export type CountRequest = readonly [limit: string, action: 'take' | 'peek', key: string]

/** The requests between a worker and its primary. Node sends them as JSON. */
export interface IpcRequests {
  /** Worker to primary: reads the variables that the worker was not started with, secrets among them. */
  environment: { params: null; result: Readonly<Record<string, string | undefined>> }
  /** Worker to primary: the worker serves connections and sells this catalog. */
  ready: {
    params: { readonly offers: number; readonly rejected: number; readonly readAt: string }
    result: null
  }
  /** Worker to primary: the worker cannot continue and is about to exit. */
  failed: { params: { readonly reason: string; readonly isFinal: boolean }; result: null }
  /** Worker to primary: client requests to count against their rate limits. The results keep the order. */
  count: { params: readonly CountRequest[]; result: readonly RateLimitResult[] }
  /** Worker to primary: sends test money to this address and returns the transaction hash. */
  faucet: { params: string; result: string }
  /** Worker to primary: reads the metrics of all workers in the Prometheus text format. */
  metrics: { params: null; result: string }
  /** Primary to worker: reads the metrics of this worker. */
  ownMetrics: { params: null; result: MetricValues }
  /** Primary to worker: serve the attached connection. Returns whether the worker accepted it. */
  connection: { params: null; result: boolean }
}
type Name = keyof IpcRequests

/** One end of the channel between two processes. */
export interface IpcChannel {
  /** Calls `onFailure` when the message could not be sent. */
  send(message: unknown, onFailure: (error: Error) => void, connection?: Socket): void
  listen(receive: (message: unknown, connection?: Socket) => void): void
}

/** Requests and responses over a channel that carries one-way messages. */
export interface IpcPeer {
  /** @throws when the other process has exited, fails, or does not respond within `timeoutMs` */
  request<N extends Name>(
    name: N,
    value: IpcRequests[N]['params'],
    timeoutMs: number,
  ): Promise<IpcRequests[N]['result']>
  /** Hands a connection to the other process, without a timeout. @throws when that process has exited */
  handOff(connection: Socket): Promise<IpcRequests['connection']['result']>
  /** Rejects all pending requests: the other process has exited. */
  close(): void
  /** Sets the handler of requests with this name. */
  handle<N extends Name>(name: N, handler: Handler<N>): void
}

type Handler<N extends Name> = (
  value: IpcRequests[N]['params'],
  /** Undefined when the connection was closed during the transfer. */
  connection: Socket | undefined,
) => IpcRequests[N]['result'] | Promise<IpcRequests[N]['result']>

interface RequestMessage {
  readonly request: Name
  readonly id: number
  readonly value: unknown
}

/** Both processes run the same version, so messages are not validated. */
type Message =
  | RequestMessage
  | { readonly responseTo: number; readonly value?: unknown; readonly error?: string }

interface PendingRequest {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: Error) => void
}

export function createIpcPeer(channel: IpcChannel): IpcPeer {
  const pending = new Map<number, PendingRequest>()
  const handlers = new Map<Name, (value: unknown, connection?: Socket) => unknown>()
  let lastId = 0

  /** Sends a request and keeps it pending until `release` is called. */
  function send(name: Name, value: unknown, connection?: Socket) {
    lastId += 1
    const id = lastId
    const { promise, resolve, reject } = Promise.withResolvers<never>()
    pending.set(id, { resolve: resolve as (value: unknown) => void, reject })
    const message: Message = { request: name, id, value }
    channel.send(message, reject, connection)
    return { promise, release: () => pending.delete(id) }
  }

  async function respond(
    { request: name, id, value }: RequestMessage,
    connection: Socket | undefined,
  ): Promise<void> {
    // The caller has exited when the channel is closed, so the answer is dropped.
    const reply = (message: Message) => channel.send(message, () => undefined)
    try {
      const handler = handlers.get(name)
      if (handler === undefined) throw new Error(`No handler for "${name}" requests`)
      reply({ responseTo: id, value: await handler(value, connection) })
    } catch (error) {
      reply({ responseTo: id, error: error instanceof Error ? error.message : String(error) })
    }
  }

  channel.listen((received, connection) => {
    const message = received as Message
    if ('request' in message) return void respond(message, connection)
    const request = pending.get(message.responseTo)
    if (message.error === undefined) request?.resolve(message.value)
    else request?.reject(new Error(message.error))
  })

  return {
    async request(name, value, timeoutMs) {
      const { promise, release } = send(name, value)
      try {
        const timeoutMessage = `"${name}" was not answered within ${timeoutMs} ms`
        return await within(timeoutMs, promise, timeoutMessage)
      } finally {
        release()
      }
    },
    handOff(connection) {
      const { promise, release } = send('connection', null, connection)
      return promise.finally(release)
    },
    close() {
      for (const { reject } of pending.values()) reject(new Error('The other process has exited'))
    },
    handle(name, handler) {
      handlers.set(name, handler as (value: unknown, connection?: Socket) => unknown)
    },
  }
}
