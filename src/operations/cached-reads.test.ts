import { beforeEach, describe, expect, test, vi } from 'vitest'
import { cachedBriefly, withRecentValue } from './cached-reads.ts'

beforeEach(() => {
  vi.useFakeTimers()
})

function scripted(...looks: readonly (() => Promise<string | undefined>)[]) {
  const look = vi.fn<() => Promise<string | undefined>>()
  for (const one of looks) look.mockImplementationOnce(one)
  return { look, ask: cachedBriefly(look) }
}

const after = (ms: number, seen: string) => () =>
  new Promise<string>((resolve) => setTimeout(() => resolve(seen), ms))

describe('a cached value', () => {
  test('is reused for 5 s', async () => {
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

  test('is undefined for 5 s after a failed read', async () => {
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

describe('a slow read', () => {
  test('delays callers by 2 s at most and is not started twice', async () => {
    const { look, ask } = scripted(after(3_000, 'one'))
    const asked = Promise.all([ask(), ask()])
    await vi.advanceTimersByTimeAsync(2_001)
    expect(await asked).toEqual([undefined, undefined])
    const later = ask()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await later).toBe('one')
    expect(look).toHaveBeenCalledTimes(1)
  })
})

test('returns the last result for 5 minutes while reads fail', async () => {
  const look = vi.fn(async () => 'seen')
  const { read: readAgain, last } = withRecentValue(look)
  look.mockRejectedValueOnce(new Error('429'))
  expect([await readAgain(), last()]).toEqual([undefined, undefined])
  expect(await readAgain()).toBe('seen')
  look.mockRejectedValue(new Error('429'))
  await vi.advanceTimersByTimeAsync(5 * 60_000 - 1)
  expect([await readAgain(), last()]).toEqual(['seen', 'seen'])
  await vi.advanceTimersByTimeAsync(1)
  expect([await readAgain(), last()]).toEqual([undefined, undefined])
})

test('dates a result by the start of its read', async () => {
  const { read, last } = withRecentValue(after(4 * 60_000, 'seen'))
  const asked = read()
  await vi.advanceTimersByTimeAsync(4 * 60_000)
  expect([await asked, last()]).toEqual(['seen', 'seen'])
  await vi.advanceTimersByTimeAsync(60_000)
  expect(last()).toBeUndefined()
})
