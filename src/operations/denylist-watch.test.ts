import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { watchDenylist } from './denylist-watch.ts'

test('a list that cannot be read leaves the last one in force', async () => {
  const stop = new AbortController()
  const failures: string[] = []
  const told = [
    async () => ['+1202'],
    async () => Promise.reject(new Error('away')),
    async () => [],
  ]
  const read = () => (told.length > 1 ? told.shift() : told[0])?.() ?? Promise.resolve([])
  const loop = { signal: stop.signal, failed: (what: string) => failures.push(what) }
  const { denylist, work } = await watchDenylist(read, loop, 20)
  expect(denylist.has('+1202')).toBe(true)
  while (failures.length === 0) await delay(1)
  expect(denylist.has('+1202')).toBe(true)
  expect(failures).toEqual(['reading the denylist'])
  while (denylist.has('+1202')) await delay(1)
  stop.abort()
  await work
})
