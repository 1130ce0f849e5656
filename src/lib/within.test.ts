import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { within } from './within.ts'

const late = 'nothing came'
const never = new Promise<never>(() => undefined)

test('gives the answer, or what it was rejected with', async () => {
  expect(await within(60_000, Promise.resolve('yes'), late)).toBe('yes')
  await expect(within(60_000, Promise.reject(new Error('no')), late)).rejects.toThrow('no')
})

test('waits no longer than it was told', async () => {
  await expect(within(1, never, late)).rejects.toThrow(late)
})

test('takes an answer that came in time, however busy this process was', async () => {
  // From within an immediate: what Node looks at next is the timers, and only then the input.
  await setImmediate()
  const answer = stat('.')
  const waited = within(1, answer, late)
  const until = performance.now() + 200
  while (performance.now() < until);
  expect((await waited).isDirectory()).toBe(true)
})
