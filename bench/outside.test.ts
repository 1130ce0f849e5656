import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type OutsideClock, watchOutside } from './outside.ts'

const outside = 'http://outside.test'
const original = globalThis.fetch
const delay = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

beforeEach(() => {
  vi.useFakeTimers()
  globalThis.fetch = async (url) => {
    await delay(Number(new URL(String(url)).searchParams.get('ms')))
    return new Response('{}')
  }
})
afterEach(() => {
  globalThis.fetch = original
  vi.useRealTimers()
})

/** Runs the work on a clock of its own, and returns what the clock has counted after a second. */
async function waitedBy(work: () => Promise<unknown>, beside?: () => Promise<unknown>) {
  const watch = watchOutside([outside])
  let clock: OutsideClock | undefined
  watch.clocked((own) => {
    clock = own
    void work()
  })
  void beside?.()
  await vi.advanceTimersByTimeAsync(1_000)
  return clock?.waited()
}

test('calls side by side are counted once, and pauses between them not at all', async () => {
  const waited = await waitedBy(async () => {
    await Promise.all([fetch(`${outside}?ms=30`), fetch(`${outside}?ms=50`)])
    await delay(200)
    await fetch(`${outside}?ms=10`)
  })
  expect(waited).toBe(60)
})

test('what others wait for meanwhile is not on this account', async () => {
  const work = () => delay(5).then(() => fetch(`${outside}?ms=20`))
  expect(await waitedBy(work, () => fetch(`${outside}?ms=500`))).toBe(20)
})

test('a call to another address is the own part of whoever makes it', async () => {
  expect(await waitedBy(() => fetch('http://inside.test?ms=40'))).toBe(0)
})
