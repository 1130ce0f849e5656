import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { waitUntil } from '../process.ts'
import type { Clock, ClockOptions } from './clock.ts'
import { startClock } from './clock.ts'
import { type ChainNode, startChainNode } from './node.ts'
import type { ChainClient } from './rpc.ts'
import { chainClient } from './rpc.ts'

/** Only ends tests that hang. */
const withinMs = 60_000
const SOMEBODY = '0x00000000000000000000000000000000000000b1'
let folder: string
let node: ChainNode
let client: ChainClient
let clock: Clock | undefined
let saves: number
let problems: Error[]

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiosk402-clock-'))
  node = await startChainNode(folder)
  client = chainClient(node.rpcUrl)
  saves = 0
  problems = []
})

afterEach(async () => {
  await clock?.stop()
  clock = undefined
  await node.stop()
  await rm(folder, { recursive: true })
})

async function run(options: Partial<ClockOptions>): Promise<void> {
  const save = async () => {
    saves += 1
    return client.getBlockNumber()
  }
  const onProblem = (error: Error) => problems.push(error)
  clock = await startClock({ client, save, onProblem, everyMs: 20, saveEveryMs: 0, ...options })
}

async function transact(): Promise<bigint> {
  await client.impersonateAccount({ address: SOMEBODY })
  const ether = 10n ** 18n
  await client.setBalance({ address: SOMEBODY, value: ether })
  const hash = await client.sendTransaction({ account: SOMEBODY, to: SOMEBODY })
  return (await client.waitForTransactionReceipt({ hash })).blockNumber
}

async function numberOf(blockTag: 'latest' | 'safe' | 'finalized'): Promise<bigint> {
  return (await client.getBlock({ blockTag })).number
}

it('makes a transaction safe after one more block and final after two', async () => {
  await run({ everyMs: 60_000 })
  const mined = await transact()
  expect([await numberOf('safe'), await numberOf('finalized')]).toEqual([mined - 1n, mined - 2n])
  await clock?.stop()

  await run({})

  expect(await waitUntil(async () => (await numberOf('finalized')) >= mined, withinMs)).toBe(true)
})

it('mines seldom without business and often again after a transaction', async () => {
  let time = 0
  let looks = 0
  const now = () => time
  const counted = client.extend(({ getBlockNumber }) => ({
    getBlockNumber: (...asked: Parameters<typeof getBlockNumber>) => {
      looks += 1
      return getBlockNumber(...asked)
    },
  }))
  await run({ client: counted as ChainClient, now, businessMs: 200, idleEveryMs: 60_000 })
  expect(await waitUntil(async () => (await numberOf('latest')) > 4n, withinMs)).toBe(true)

  time += 201
  const ticks = async (more: number) => {
    const enough = looks + more
    expect(await waitUntil(() => looks >= enough, withinMs)).toBe(true)
  }
  // The current tick may still mine.
  await ticks(2)
  const quiet = await numberOf('latest')
  await ticks(5)
  expect(await numberOf('latest')).toBe(quiet)

  const mined = await transact()

  expect(await waitUntil(async () => (await numberOf('safe')) > mined, withinMs)).toBe(true)
})

it('saves after transactions and not for the sake of empty blocks', async () => {
  await run({})
  await waitUntil(async () => (await numberOf('latest')) > 6n, withinMs)
  expect(saves).toBe(0)

  await transact()

  expect(await waitUntil(() => saves > 0, withinMs)).toBe(true)
  await delay(100)
  expect(saves).toBe(1)
})

it('notices a transaction that its own block has', async () => {
  await run({})
  await client.setAutomine(false)

  await transact()

  expect(await waitUntil(() => saves > 0, withinMs)).toBe(true)
})

it('tells once that the node has gone', async () => {
  await run({})
  await node.stop()

  expect(await waitUntil(() => problems.length > 0, withinMs)).toBe(true)
  await delay(100)
  expect(problems).toHaveLength(1)
})
