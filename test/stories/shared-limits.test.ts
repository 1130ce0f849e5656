import { afterAll, test as always, beforeAll, expect } from 'vitest'
import { noRedis, type Redis, startRedis } from '../harness/redis.ts'
import { type Call, callerFor } from './reading.ts'
import { eventually } from './requests.ts'
import { openNode, openStore, type Store, siblingSettings } from './store.ts'

const test = always.skipIf(noRedis)

let redis: Redis
let store: Store
let sibling: Awaited<ReturnType<typeof openNode>>
let nodes: readonly Call[]

beforeAll(async () => {
  redis = await startRedis()
  store = await openStore({ offers: 100, env: { REDIS_URL: redis.url } })
  sibling = await openNode(await siblingSettings(store), store.parts)
  nodes = [callerFor(store), callerFor(sibling)]
})
afterAll(async () => {
  await sibling?.close()
  await store?.close()
  await redis?.stop()
})

/** So many requests of one client, at both nodes in turn and all at once: their answers. */
function askBoth(address: string, count: number) {
  const asks = Array.from({ length: count }, (_, index) => nodes[index % 2] as Call)
  const headers = { 'x-forwarded-for': address }
  return Promise.all(asks.map((call) => call('/ai/vouchers', { headers })))
}

async function countAt(address: string, count: number) {
  const statuses = (await askBoth(address, count)).map(({ status }) => status)
  const of = (wanted: number) => statuses.filter((status) => status === wanted).length
  return { taken: of(200), refused: of(429), other: statuses.length - of(200) - of(429) }
}

const linesAbout = (text: string) => store.logLines.filter((line) => line.includes(text))
const aloneText = 'rate limits are counted in this process alone'

test('over two nodes a client has one limit', async () => {
  expect(await countAt('192.0.2.1', 90)).toEqual({ taken: 60, refused: 30, other: 0 })
  expect(await countAt('192.0.2.2', 10)).toEqual({ taken: 10, refused: 0, other: 0 })
})

test('while Redis stands still each node counts alone, and says so once; then they count together again', async () => {
  redis.standStill()
  try {
    // Each node counts anew, sixty requests.
    expect(await countAt('192.0.2.3', 140)).toEqual({ taken: 120, refused: 20, other: 0 })
    expect(linesAbout(aloneText)).toHaveLength(1)
  } finally {
    redis.goOn()
  }
  await eventually(
    async () => {
      await askBoth('192.0.2.4', 2)
      return linesAbout('rate limits are counted together again')
    },
    (lines) => lines.length === 1,
  )
})

test('without Redis nothing fails and nothing waits', async () => {
  await redis.stop()
  expect(await countAt('192.0.2.5', 20)).toEqual({ taken: 20, refused: 0, other: 0 })
  const { status } = await (nodes[0] as Call)('/readyz')
  expect(status).toBe(200)
  redis = await startRedis(redis.port)
  await eventually(
    async () => {
      await askBoth('192.0.2.6', 2)
      return linesAbout('rate limits are counted together again')
    },
    (lines) => lines.length === 2,
  )
})
