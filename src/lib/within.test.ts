import { stat } from 'node:fs/promises'
import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { within } from './scheduling.ts'

const late = 'nothing came'
const never = new Promise<never>(() => undefined)

test('returns the answer or its rejection', async () => {
  expect(await within(60_000, Promise.resolve('yes'), late)).toBe('yes')
  await expect(within(60_000, Promise.reject(new Error('no')), late)).rejects.toThrow('no')
})

test('rejects after the timeout', async () => {
  await expect(within(1, never, late)).rejects.toThrow(late)
})

test('counts a long turn of the event loop as a short one: an answer may need several', async () => {
  const busyTurn = async () => {
    const until = performance.now() + 60
    while (performance.now() < until);
    await stat('.')
  }
  const answer = busyTurn().then(busyTurn).then(busyTurn).then(busyTurn).then(busyTurn)
  expect(await within(100, answer, late)).toBeUndefined()
})

test('accepts an answer that arrived in time while the process was busy', async () => {
  // After an immediate, Node runs the timers first and handles input only afterwards.
  await setImmediate()
  const answer = stat('.')
  const waited = within(1, answer, late)
  const until = performance.now() + 200
  while (performance.now() < until);
  expect((await waited).isDirectory()).toBe(true)
})
