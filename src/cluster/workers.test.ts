import { expect, test } from 'vitest'
import { startWorkers, type Worker, type WorkerExit } from './workers.ts'

const killed: WorkerExit = { code: null, signal: 'SIGKILL' }
const failedWith = (reason: string, isFinal = false): WorkerExit => ({
  code: 1,
  signal: null,
  failure: { reason, isFinal },
})

/** Workers that become ready and exit at the test's command, with a clock that the test sets. */
function workersOf(size: number) {
  const started: { getReady(): void; end(how: WorkerExit): void; isStopped: () => boolean }[] = []
  const pauses: number[] = []
  const exits: WorkerExit[] = []
  let now = 0
  const start = (): Worker => {
    const ready = Promise.withResolvers<void>()
    const exit = Promise.withResolvers<WorkerExit>()
    let stopped = false
    started.push({ getReady: ready.resolve, end: exit.resolve, isStopped: () => stopped })
    return {
      ready: ready.promise,
      exit: exit.promise,
      stop() {
        stopped = true
      },
    }
  }
  const workers = startWorkers({
    size,
    start,
    onExit: (_, exit) => exits.push(exit),
    monotonicMs: () => now,
    pause: async (ms) => {
      pauses.push(ms)
    },
  })
  const outcomes: string[] = []
  void workers.allReady.then(() => outcomes.push('all ready'))
  void workers.failed.then((reason) => outcomes.push(reason))
  const worker = (index: number) => {
    const one = started[index]
    if (one === undefined) throw new Error(`Worker ${index} was not started`)
    return one
  }
  return {
    workers,
    pauses,
    exits,
    outcomes,
    worker,
    count: () => started.length,
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** Resolves when all pending promise callbacks have run. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

async function readyWorkers(size: number) {
  const world = workersOf(size)
  for (let index = 0; index < size; index += 1) world.worker(index).getReady()
  await settle()
  expect(world.outcomes).toEqual(['all ready'])
  return world
}

test('reports that all workers are ready', async () => {
  const { worker, outcomes, count } = workersOf(2)
  expect(count()).toBe(2)
  worker(0).getReady()
  await settle()
  expect(outcomes).toEqual([])
  worker(1).getReady()
  await settle()
  expect(outcomes).toEqual(['all ready'])
})

test('replaces a worker that dies and reports its exit', async () => {
  const { worker, count, exits, pauses } = await readyWorkers(2)
  worker(0).end(killed)
  await settle()
  expect(count()).toBe(3)
  expect(exits).toEqual([killed])
  expect(pauses).toEqual([250])
})

test('ends the startup when a worker reports why it cannot start', async () => {
  const { worker, outcomes, count } = workersOf(2)
  worker(0).getReady()
  worker(1).end(failedWith('PORT 1 is taken'))
  await settle()
  expect(outcomes).toEqual(['PORT 1 is taken'])
  expect(count()).toBe(2)
})

test('tries a worker that crashes at every start five times, with growing delays', async () => {
  const { worker, outcomes, pauses } = workersOf(1)
  for (let index = 0; index < 5; index += 1) {
    worker(index).end(killed)
    await settle()
  }
  expect(pauses).toEqual([250, 500, 1_000, 2_000])
  expect(outcomes).toEqual(['The store cannot start: workers exited by SIGKILL 5 times in a row.'])
})

test('keeps restarting a failing worker while others serve', async () => {
  const { worker, outcomes, pauses } = await readyWorkers(2)
  worker(0).end(killed)
  await settle()
  for (let index = 2; index < 12; index += 1) {
    worker(index).end(failedWith('DATABASE_URL: connection refused'))
    await settle()
  }
  expect(outcomes).toEqual(['all ready'])
  expect(Math.max(...pauses)).toBe(15_000)
  worker(1).end(killed)
  await settle()
  worker(12).end(failedWith('DATABASE_URL: connection refused'))
  await settle()
  expect(outcomes).toEqual(['all ready', 'DATABASE_URL: connection refused'])
})

test('stops the store after a failure that every worker would have', async () => {
  const { worker, outcomes, count } = await readyWorkers(2)
  worker(1).end(failedWith('The record is older than the chain', true))
  await settle()
  expect(outcomes).toEqual(['all ready', 'The record is older than the chain'])
  expect(count()).toBe(2)
})

test('delays restarts of short-lived workers, until one has served long enough', async () => {
  const { worker, pauses, pass } = await readyWorkers(1)
  const dieAfter = async (index: number, ms: number) => {
    worker(index).getReady()
    await settle()
    pass(ms)
    worker(index).end(killed)
    await settle()
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
])('stop signals each worker and waits for it: %j', async (end, isWell) => {
  const { workers, worker, count } = await readyWorkers(2)
  const stopped = workers.stop()
  expect([worker(0).isStopped(), worker(1).isStopped()]).toEqual([true, true])
  worker(0).end({ code: 0, signal: null })
  worker(1).end(end)
  expect(await stopped).toBe(isWell)
  expect(count()).toBe(2)
})

test('a worker that is stopped before it was ready counts as a clean exit', async () => {
  const { workers, worker } = workersOf(1)
  const stopped = workers.stop()
  worker(0).end({ code: null, signal: 'SIGTERM' })
  expect(await stopped).toBe(true)
})
