import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { keptBriefly, lastSeen, remembered } from './looks.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function scripted(...looks: readonly (() => Promise<string | undefined>)[]) {
  const look = vi.fn<() => Promise<string | undefined>>()
  for (const one of looks) look.mockImplementationOnce(one)
  return { look, ask: keptBriefly(look, () => Date.now()) }
}

const after = (ms: number, seen: string) => () =>
  new Promise<string>((resolve) => setTimeout(() => resolve(seen), ms))

describe('what was seen', () => {
  test('is kept for 5 s', async () => {
    const { look, ask } = scripted(
      async () => 'one',
      async () => 'two',
    )
    expect(await ask()).toBe('one')
    await vi.advanceTimersByTimeAsync(4_999)
    expect(await ask()).toBe('one')
    await vi.advanceTimersByTimeAsync(1)
    expect(await ask()).toBe('two')
    expect(look).toHaveBeenCalledTimes(2)
  })

  test('is nothing for 5 s after a look that failed', async () => {
    const { look, ask } = scripted(
      async () => undefined,
      async () => 'two',
    )
    expect(await ask()).toBeUndefined()
    expect(await ask()).toBeUndefined()
    expect(look).toHaveBeenCalledTimes(1)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await ask()).toBe('two')
  })
})

describe('a look that is slow', () => {
  test('is waited for 2 s, and is the only one until it ends', async () => {
    const { look, ask } = scripted(after(3_000, 'one'))
    const asked = Promise.all([ask(), ask()])
    await vi.advanceTimersByTimeAsync(2_000)
    expect(await asked).toEqual([undefined, undefined])
    const later = ask()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await later).toBe('one')
    expect(look).toHaveBeenCalledTimes(1)
  })
})

test('a probe is remembered until it fails', async () => {
  const probe = vi.fn(async () => 'seen')
  const { look, last } = remembered(probe)
  expect(last()).toBeUndefined()
  expect(await look()).toBe('seen')
  expect(last()).toBe('seen')
  probe.mockRejectedValueOnce(new Error('gone'))
  await expect(look()).rejects.toThrow('gone')
  expect(last()).toBeUndefined()
})

test('what was seen last counts for 5 minutes while it cannot be seen', async () => {
  const look = vi.fn(async () => 'seen')
  const { look: ask, last } = lastSeen(look)
  look.mockRejectedValueOnce(new Error('429'))
  expect([await ask(), last()]).toEqual([undefined, undefined])
  expect(await ask()).toBe('seen')
  look.mockRejectedValue(new Error('429'))
  await vi.advanceTimersByTimeAsync(5 * 60_000 - 1)
  expect([await ask(), last()]).toEqual(['seen', 'seen'])
  await vi.advanceTimersByTimeAsync(1)
  expect([await ask(), last()]).toEqual([undefined, undefined])
})

test('what was seen last is as old as the beginning of the look that saw it', async () => {
  const { look, last } = lastSeen(after(4 * 60_000, 'seen'))
  const asked = look()
  await vi.advanceTimersByTimeAsync(4 * 60_000)
  expect([await asked, last()]).toEqual(['seen', 'seen'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(last()).toBeUndefined()
})
