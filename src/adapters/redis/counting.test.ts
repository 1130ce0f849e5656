import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createClient } from '@redis/client'
import { afterEach, test as always, describe, expect } from 'vitest'
import { describeRateLimiter } from '../../../test/contract/rate-limiter.ts'
import { noRedis, type Redis, startRedis } from '../../../test/harness/redis.ts'
import type { RateLimitResult } from '../../http/rate-limit.ts'
import { openRedisCounting, type RedisCounting } from './counting.ts'

const digest = (client: string) => createHash('sha256').update(client).digest('hex')
const rule = { name: 'test', limit: 2, windowSeconds: 60 }

const test = always.skipIf(noRedis)

describe.skipIf(noRedis)('with a redis-server', () => {
  describeRateLimiter('in Redis over three connections', async () => {
    const redis = await startRedis()
    const open = () => openRedisCounting({ url: redis.url, digest, ...patient })
    const connections = await Promise.all([open(), open(), open()])
    return {
      seats: connections.map(({ counting }) => counting),
      close: async () => {
        for (const { close } of connections) close()
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

/** A busy machine may answer slowly. Only tests of the timeout use the store's own. */
const patient = { maxAnswerMs: 60_000 }

async function countingIn(options: { maxClients?: number; maxAnswerMs?: number } = patient) {
  const redis = await startRedis()
  servers.push(redis)
  const counting = await openRedisCounting({ url: redis.url, digest, ...options })
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
    const log = `kiosk402:limit:test:${digest('192.0.2.1')}`
    expect(keys.sort()).toEqual(['kiosk402:limit:test', log])
    for (const key of keys) {
      const leftMs = await client.pTTL(key)
      expect(leftMs).toBeGreaterThan(60_000)
      expect(leftMs).toBeLessThanOrEqual(120_000)
    }
    expect(await client.zRange('kiosk402:limit:test', 0, -1)).toEqual([digest('192.0.2.1')])
  })
})

/** Sends one request from each of this many addresses, 500 at a time. */
async function flood(
  take: (client: string) => unknown,
  addresses: number,
): Promise<RateLimitResult[]> {
  const taken: RateLimitResult[] = []
  for (let at = 0; at < addresses; at += 500) {
    const wave = Array.from({ length: Math.min(500, addresses - at) }, (_, one) => at + one)
    taken.push(
      ...((await Promise.all(wave.map((one) => take(`flood-${one}`)))) as RateLimitResult[]),
    )
  }
  return taken
}

test('a flood of addresses fills neither Redis nor the limits of those who were there before', async () => {
  const { redis, take, peek } = await countingIn({ ...patient, maxClients: 50 })
  await take('early')
  const taken = await flood(take, 10_000)
  // 49 of them have a log of their own. The others share 1,024 logs of two requests each.
  const allowed = taken.filter((one) => one.allowed).length
  expect(allowed).toBeGreaterThan(49 + 1_024)
  expect(allowed).toBeLessThanOrEqual(49 + 2 * 1_024)
  const keys = await inspect(redis, (client) => client.dbSize())
  expect(keys).toBeLessThanOrEqual(50 + 1_024 + 1)

  expect(await peek('early')).toMatchObject({ allowed: true, remaining: 1 })
  expect(await take('early')).toMatchObject({ allowed: true, remaining: 0 })
  expect(await take('early')).toMatchObject({ allowed: false })
  // A client in a full shared log is limited as in its own.
  expect(await take('flood-9999')).toMatchObject({ allowed: false, remaining: 0 })
})

test('who came too late for a log of their own has one when others have ended', async () => {
  const { redis, take, peek } = await countingIn({ ...patient, maxClients: 2 })
  await take('one')
  await take('two')
  await take('late')
  const ends = 'kiosk402:limit:test'
  const withLogs = () => inspect(redis, (client) => client.zRange(ends, 0, -1))
  expect((await withLogs()).sort()).toEqual([digest('one'), digest('two')].sort())
  await inspect(redis, async (client) => {
    await client.zAdd(ends, { score: Date.now() - 1, value: digest('one') })
  })
  await peek('late')
  expect(await withLogs()).toEqual([digest('two')])
  await take('late')
  expect((await withLogs()).sort()).toEqual([digest('late'), digest('two')].sort())
})

test('as many clients as the docs name have a log of their own', async () => {
  const { redis, take } = await countingIn()
  const [, most = '', more = ''] =
    /logs for at most ([\d,]+) clients[^.]*, and ([\d,]+) shared/.exec(
      readFileSync('docs/operators/scaling.md', 'utf8'),
    ) ?? []
  const clients = Number(most.replace(',', ''))
  await flood(take, clients + 5_000)
  const [keys, own] = await inspect(redis, async (client) => [
    await client.dbSize(),
    await client.zCard('kiosk402:limit:test'),
  ])
  expect(own).toBe(clients)
  expect(keys).toBeGreaterThan(clients)
  expect(keys).toBeLessThanOrEqual(clients + Number(more.replace(',', '')) + 1)
  const info = await inspect(redis, (client) => client.info('memory'))
  expect(Number(/used_memory:(\d+)/.exec(info)?.[1])).toBeLessThan(20_000_000)
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
  const { redis, take } = await countingIn({})
  redis.standStill()
  try {
    await expect(take('a')).rejects.toThrow('Redis did not answer within 250 ms')
  } finally {
    redis.goOn()
  }
  // Redis counts the commands that arrived in its socket while it stood still.
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

always('a start without Redis goes on, and its counts are refused with the reason', async () => {
  const counting = await openRedisCounting({ url: 'redis://127.0.0.1:9', digest, ...patient })
  opened.push(counting)
  const taken = counting.counting(rule).take('a')
  await expect(taken).rejects.toThrow('connect ECONNREFUSED 127.0.0.1:9')
})

test('a password that Redis refuses is the reason of refused counts', async () => {
  const redis = await startRedis()
  servers.push(redis)
  const url = redis.url.replace('//', '//nobody:wrong@')
  const counting = await openRedisCounting({ url, digest, ...patient })
  opened.push(counting)
  await expect(counting.counting(rule).take('a')).rejects.toThrow('WRONGPASS')
})
