import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { createGarbageCollector } from './garbage.ts'

afterEach(() => {
  vi.unstubAllGlobals()
})

function collector() {
  const gc = vi.fn()
  vi.stubGlobal('gc', gc)
  const stopping = new AbortController()
  return { gc, stopping, collectGarbage: createGarbageCollector(stopping.signal) }
}

test('garbage is collected once the process is idle, once for all calls until then', async () => {
  const { gc, collectGarbage } = collector()
  let isBusy = true
  const work = (async () => {
    while (isBusy) {
      for (const until = performance.now() + 30; performance.now() < until; );
      await delay(1)
    }
  })()
  const collected = [collectGarbage(), collectGarbage()]
  await delay(1_500)
  expect(gc).not.toHaveBeenCalled()
  isBusy = false
  await Promise.all([work, ...collected])
  expect(gc).toHaveBeenCalledTimes(1)
  await collectGarbage()
  expect(gc).toHaveBeenCalledTimes(2)
})

test('a process that stops collects nothing', async () => {
  const { gc, stopping, collectGarbage } = collector()
  stopping.abort()
  await collectGarbage()
  expect(gc).not.toHaveBeenCalled()
})

test('without the function of Node that collects, nothing is waited for', async () => {
  vi.stubGlobal('gc', undefined)
  await createGarbageCollector(new AbortController().signal)()
})
