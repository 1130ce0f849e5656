import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { RateLimiterFactory, RateLimitResult } from '../../src/http/rate-limit.ts'
import type { SeatAsk } from './limiter-process.ts'

/** A process that counts requests, with its limiters. */
export interface Seat {
  readonly counting: RateLimiterFactory
  readonly process: ChildProcess
}

/** Starts a process that counts in this Redis, or without one at this process. */
export async function startSeat(
  redisUrl: string | undefined,
  connect: (child: ChildProcess) => void = () => undefined,
): Promise<Seat> {
  const script = fileURLToPath(new URL('./limiter-process.ts', import.meta.url))
  const child = fork(script, redisUrl === undefined ? [] : [redisUrl], { execArgv: [] })
  connect(child)
  const waiting = new Map<number, (taken: RateLimitResult) => void>()
  child.on('message', (heard) => {
    const { seat, taken } = heard as { seat?: number; taken: RateLimitResult }
    if (seat !== undefined) waiting.get(seat)?.(taken)
  })
  await once(child, 'message')
  let last = 0
  const ask = (question: Omit<SeatAsk, 'seat'>) =>
    new Promise<RateLimitResult>((resolve) => {
      last += 1
      waiting.set(last, resolve)
      child.send({ seat: last, ...question })
    })
  return {
    process: child,
    counting: (rule) => ({
      ...rule,
      take: (key) => ask({ rule, what: 'take', key }),
      peek: (key) => ask({ rule, what: 'peek', key }),
    }),
  }
}

export async function stopSeats(seats: readonly Seat[]): Promise<void> {
  await Promise.all(
    seats.map(async ({ process: child }) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.disconnect()
      await once(child, 'exit')
    }),
  )
}
