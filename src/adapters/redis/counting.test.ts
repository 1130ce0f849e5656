import { createHash } from 'node:crypto'
import { createClient } from '@redis/client'
import { afterEach, test as always, expect, vi } from 'vitest'
import { noRedis, type Redis, startRedis } from '../../../test/harness/redis.ts'
import { limiterOf } from '../../http/gate.ts'
import { openRedisCounting, type RedisCounting } from './counting.ts'

const digest = (client: string) => createHash('sha256').update(client).digest('hex')
const rule = { name: 'test', limit: 5, windowSeconds: 60 }

const test = always.skipIf(noRedis)

const servers: Redis[] = []
const opened: RedisCounting[] = []
afterEach(async () => {
  for (const counting of opened.splice(0)) counting.close()
  for (const redis of servers.splice(0)) await redis.stop()
})

/** A busy machine may answer slowly. Only the test of the timeout uses the store's own. */
const patient = { maxAnswerMs: 60_000 }

async function startServer(port?: number): Promise<Redis> {
  const redis = await startRedis(port)
  servers.push(redis)
  return redis
}

/** A node that counts there. */
async function nodeAt(url: string, options: { maxAnswerMs?: number } = patient) {
  const changes: string[] = []
  const changed = (how: string, reason?: unknown) => {
    changes.push(reason instanceof Error ? `${how}: ${reason.message}` : how)
  }
  const counting = await openRedisCounting({ url, digest, changed, ...options })
  opened.push(counting)
  return { ...limiterOf(rule, counting.counting(rule)), changes }
}

test('over three nodes a client has one limit', async () => {
  const { url } = await startServer()
  const nodes = await Promise.all([nodeAt(url), nodeAt(url), nodeAt(url)])
  const taken = await Promise.all(
    Array.from({ length: 30 }, (_, at) => nodes[at % 3]?.consume('crowd')),
  )
  expect(taken.filter((one) => one?.allowed)).toHaveLength(5)
  for (const { peek } of nodes) {
    expect(await peek('crowd')).toMatchObject({ allowed: false, remaining: 0 })
    expect(await peek('other')).toEqual({ allowed: true, remaining: 5, resetSeconds: 60 })
  }
})

test('clients are not kept in the clear, and every key ends with its window', async () => {
  const { url } = await startServer()
  const node = await nodeAt(url)
  await node.consume('192.0.2.1')
  const client = createClient({ url })
  await client.connect()
  const key = `kiosk402:limit:test:${digest('192.0.2.1')}`
  expect(await client.keys('*')).toEqual([key])
  expect(await client.pTTL(key)).toBeLessThanOrEqual(60_000)
  client.destroy()
})

test('while Redis stands still a node counts alone, says so once, and waits once', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const redis = await startServer()
  const node = await nodeAt(redis.url, {})
  redis.standStill()
  try {
    const taken = await Promise.all(Array.from({ length: 8 }, () => node.consume('a')))
    expect(taken.filter(({ allowed }) => allowed)).toHaveLength(5)
    expect(node.changes).toEqual(['alone: Redis did not answer within 250 ms'])
  } finally {
    redis.goOn()
  }
  expect((await node.consume('b')).allowed).toBe(true)
  expect(node.changes).toHaveLength(1)
  const later = async () => {
    vi.advanceTimersByTime(1_000)
    await node.consume('c')
    return node.changes.at(-1)
  }
  await expect.poll(later).toBe('together')
})

test('while Redis is away a node counts alone, and together when it is back', async () => {
  const redis = await startServer()
  const node = await nodeAt(redis.url)
  await node.consume('a')
  await redis.stop()
  expect(await node.consume('a')).toMatchObject({ allowed: true })
  expect(node.changes).toHaveLength(1)
  await startServer(redis.port)
  const back = async () => [await node.consume('b'), node.changes.at(-1)][1]
  await expect.poll(back).toBe('together')
})

always('a start without Redis goes on, and says why it counts alone', async () => {
  const node = await nodeAt('redis://127.0.0.1:9')
  expect(await node.consume('a')).toMatchObject({ allowed: true, remaining: 4 })
  expect(node.changes).toEqual(['alone: connect ECONNREFUSED 127.0.0.1:9'])
})

test('a password that Redis refuses is the reason to count alone', async () => {
  const { url } = await startServer()
  const node = await nodeAt(url.replace('//', '//nobody:wrong@'))
  await node.consume('a')
  expect(node.changes).toEqual([expect.stringContaining('WRONGPASS')])
})
