import { createHash } from 'node:crypto'
import { openRedisCounting } from '../../src/adapters/redis/counting.ts'
import { createIpcPeer } from '../../src/cluster/ipc.ts'
import { channelToParent } from '../../src/cluster/ipc-channel.ts'
import { limitersAtPrimary } from '../../src/cluster/rate-limits.ts'
import type { LimitRule, RateLimiterFactory } from '../../src/http/rate-limit.ts'

/** A message from the test to this process. */
export interface SeatAsk {
  readonly seat: number
  readonly rule: LimitRule
  readonly what: 'take' | 'peek'
  readonly key: string
}

/**
 * A process that counts requests for the process that started it: in the given Redis, or without one at that
 * process, which then owns the counters. It ends with the IPC channel.
 */
const [redisUrl] = process.argv.slice(2)
const counting =
  redisUrl === undefined
    ? limitersAtPrimary(createIpcPeer(channelToParent()))
    : await inRedis(redisUrl)
process.on('message', async (heard) => {
  const message = heard as Partial<SeatAsk>
  if (message.seat === undefined) return
  const { seat, rule, what, key } = message as SeatAsk
  process.send?.({ seat, taken: await counting(rule)[what](key) })
})
process.on('disconnect', () => process.exit(0))
process.send?.({ ready: true })

async function inRedis(url: string): Promise<RateLimiterFactory> {
  const digest = (client: string) => createHash('sha256').update(client).digest('hex')
  return (await openRedisCounting({ url, digest })).counting
}
