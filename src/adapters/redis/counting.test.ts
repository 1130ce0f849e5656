import { createHash } from 'node:crypto'
import { createClient } from '@redis/client'
import { afterEach, test as always, describe, expect } from 'vitest'
import { startSeat, stopSeats } from '../../../test/contract/limiter-seats.ts'
import { describeRateLimiter } from '../../../test/contract/rate-limiter.ts'
import { noRedis, type Redis, startRedis } from '../../../test/harness/redis.ts'
import { openRedisCounting, type RedisCounting } from './counting.ts'

const digest = (client: string) => createHash('sha256').update(client).digest('hex')
const rule = { name: 'test', limit: 2, windowSeconds: 60 }

const test = always.skipIf(noRedis)

describe.skipIf(noRedis)('with a redis-server', () => {
  describeRateLimiter('in Redis by three processes', async () => {
    const redis = await startRedis()
    const seats = await Promise.all([1, 2, 3].map(() => startSeat(redis.url)))
    return {
      seats: seats.map(({ counting }) => counting),
      close: async () => {
        await stopSeats(seats)
        await redis.stop()
      },
    }
  })
})

const servers: Redis[] = []
const opened: RedisCounting[] = []
afterEach(async () => {
  for (const counting of opened.splice(0)) counting.close()
  for (const redis of servers.splice(0)) await redis.stop()
})

async function countingIn(port?: number) {
  const redis = await startRedis(port)
  servers.push(redis)
  const counting = await openRedisCounting({ url: redis.url, digest })
  opened.push(counting)
  return { redis, ...counting.counting(rule) }
}

async function inspect<T>(redis: Redis, look: (client: ReturnType<typeof plain>) => Promise<T>) {
  const client = plain(redis)
  await client.connect()
  try {
    return await look(client)
  } finally {
    client.destroy()
  }
}
const plain = ({ url }: Redis) => createClient({ url })

test('clients are not kept in the clear, and every key ends by itself', async () => {
  const { redis, take } = await countingIn()
  await take('192.0.2.1')
  await inspect(redis, async (client) => {
    const keys = await client.keys('*')
    expect(keys).toEqual([`kiosk402:limit:test:${digest('192.0.2.1')}`])
    const leftMs = await client.pTTL(keys[0] ?? '')
    expect(leftMs).toBeGreaterThan(60_000)
    expect(leftMs).toBeLessThanOrEqual(120_000)
  })
})

test('a clock that is set back a little stands still, and one that is set back far begins anew', async () => {
  const { redis, take } = await countingIn()
  const log = (client: string) => `kiosk402:limit:test:${digest(client)}`
  const ahead = (seconds: number) => String((Date.now() + seconds * 1_000) * 1_000)
  await inspect(redis, async (client) => {
    await client.rPush(log('little'), [ahead(30), ahead(30)])
    await client.rPush(log('far'), [ahead(3_600), ahead(3_600)])
  })
  expect(await take('little')).toEqual({ allowed: false, remaining: 0, resetSeconds: 60 })
  expect(await take('far')).toEqual({ allowed: true, remaining: 1, resetSeconds: 60 })
})

test('while Redis stands still a count is refused in time, and made again afterwards', async () => {
  const { redis, take } = await countingIn()
  redis.standStill()
  try {
    await expect(take('a')).rejects.toThrow('Redis did not answer within 250 ms')
  } finally {
    redis.goOn()
  }
  // What Redis found in its socket when it went on was counted after all.
  await expect.poll(async () => take('b')).toMatchObject({ allowed: true })
})

test('while Redis is away a count is refused at once, and it is found again when it is back', async () => {
  const { redis, take } = await countingIn()
  await take('a')
  await redis.stop()
  await expect(take('a')).rejects.toThrow()
  servers.push(await startRedis(redis.port))
  const back = async () => take('a')
  await expect.poll(back).toMatchObject({ allowed: true })
})

always('a start without Redis goes on, and its counts are refused', async () => {
  const counting = await openRedisCounting({ url: 'redis://127.0.0.1:9', digest })
  opened.push(counting)
  await expect(counting.counting(rule).take('a')).rejects.toThrow()
})
