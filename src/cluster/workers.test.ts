import { expect, test } from 'vitest'
import { type End, startWorkers, type Worker } from './workers.ts'

const killed: End = { code: null, signal: 'SIGKILL' }
const says = (reason: string, isFinal = false): End => ({
  code: 1,
  signal: null,
  failure: { reason, isFinal },
})

/** Workers whose lives the test decides, in a time that it decides. */
function workersOf(size: number) {
  const started: { getReady(): void; end(how: End): void; isStopped: () => boolean }[] = []
  const pauses: number[] = []
  const lost: End[] = []
  let now = 0
  const start = (): Worker => {
    const ready = Promise.withResolvers<void>()
    const ended = Promise.withResolvers<End>()
    let stopped = false
    started.push({ getReady: ready.resolve, end: ended.resolve, isStopped: () => stopped })
    return {
      ready: ready.promise,
      ended: ended.promise,
      stop() {
        stopped = true
      },
    }
  }
  const workers = startWorkers({
    size,
    start,
    lost: (_, end) => lost.push(end),
    monotonicMs: () => now,
    pause: async (ms) => {
      pauses.push(ms)
    },
  })
  const told: string[] = []
  void workers.complete.then(() => told.push('complete'))
  void workers.hopeless.then((reason) => told.push(reason))
  const worker = (index: number) => {
    const one = started[index]
    if (one === undefined) throw new Error(`Worker ${index} was not started`)
    return one
  }
  return {
    workers,
    pauses,
    lost,
    told,
    worker,
    count: () => started.length,
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** Lets everything happen that follows from what was said. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

async function completeWorkers(size: number) {
  const world = workersOf(size)
  for (let index = 0; index < size; index += 1) world.worker(index).getReady()
  await settled()
  expect(world.told).toEqual(['complete'])
  return world
}

test('is complete when all of them listen', async () => {
  const { worker, told, count } = workersOf(2)
  expect(count()).toBe(2)
  worker(0).getReady()
  await settled()
  expect(told).toEqual([])
  worker(1).getReady()
  await settled()
  expect(told).toEqual(['complete'])
})

test('one that dies is replaced, and it is told', async () => {
  const { worker, count, lost, pauses } = await completeWorkers(2)
  worker(0).end(killed)
  await settled()
  expect(count()).toBe(3)
  expect(lost).toEqual([killed])
  expect(pauses).toEqual([250])
})

test('until all have listened, one that says why it cannot start ends the start', async () => {
  const { worker, told, count } = workersOf(2)
  worker(0).getReady()
  worker(1).end(says('PORT 1 is taken'))
  await settled()
  expect(told).toEqual(['PORT 1 is taken'])
  expect(count()).toBe(2)
})

test('one that crashes at every start without a word is tried five times, ever more slowly', async () => {
  const { worker, told, pauses } = workersOf(1)
  for (let index = 0; index < 5; index += 1) {
    worker(index).end(killed)
    await settled()
  }
  expect(pauses).toEqual([250, 500, 1_000, 2_000])
  expect(told).toEqual(['The store cannot start: its workers end by SIGKILL, 5 times in a row.'])
})

test('a place that cannot be filled is tried for as long as others serve', async () => {
  const { worker, told, pauses } = await completeWorkers(2)
  worker(0).end(killed)
  await settled()
  for (let index = 2; index < 12; index += 1) {
    worker(index).end(says('DATABASE_URL: connection refused'))
    await settled()
  }
  expect(told).toEqual(['complete'])
  expect(Math.max(...pauses)).toBe(15_000)
  worker(1).end(killed)
  await settled()
  worker(12).end(says('DATABASE_URL: connection refused'))
  await settled()
  expect(told).toEqual(['complete', 'DATABASE_URL: connection refused'])
})

test('what no worker could get over ends the store at any time', async () => {
  const { worker, told, count } = await completeWorkers(2)
  worker(1).end(says('The record is older than the chain', true))
  await settled()
  expect(told).toEqual(['complete', 'The record is older than the chain'])
  expect(count()).toBe(2)
})

test('one that dies soon after it listened is replaced ever more slowly, until one has lasted', async () => {
  const { worker, pauses, pass } = await completeWorkers(1)
  const dieAfter = async (index: number, ms: number) => {
    worker(index).getReady()
    await settled()
    pass(ms)
    worker(index).end(killed)
    await settled()
  }
  await dieAfter(0, 9_000)
  await dieAfter(1, 100)
  await dieAfter(2, 100)
  await dieAfter(3, 10_000)
  await dieAfter(4, 100)
  expect(pauses).toEqual([250, 500, 1_000, 250, 500])
})

test.each([
  [{ code: 0, signal: null }, true],
  [{ code: 1, signal: null }, false],
  [killed, false],
])('stopped, it tells each worker and waits for it: %j', async (end, isWell) => {
  const { workers, worker, count } = await completeWorkers(2)
  const stopped = workers.stop()
  expect([worker(0).isStopped(), worker(1).isStopped()]).toEqual([true, true])
  worker(0).end({ code: 0, signal: null })
  worker(1).end(end)
  expect(await stopped).toBe(isWell)
  expect(count()).toBe(2)
})

test('a worker that is told to stop before it listened has nothing to finish', async () => {
  const { workers, worker } = workersOf(1)
  const stopped = workers.stop()
  worker(0).end({ code: null, signal: 'SIGTERM' })
  expect(await stopped).toBe(true)
})
