import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createLog } from '../log.ts'
import { tellingOutages } from './outages.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('an outage is one line at its start and one at its end, however often it is met', () => {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => lines.push(JSON.parse(line))
  const failed = tellingOutages(createLog('info', { write }))
  for (let tried = 0; tried < 92; tried += 1) {
    failed('sweep', new Error('gone'))
    if (tried < 2) failed('nodes', new Error('gone'))
    vi.advanceTimersByTime(250)
  }
  const told = () => lines.map(({ level, what, msg, failures }) => [level, what, msg, failures])
  const begun = [
    [50, 'sweep', 'background work failed', undefined],
    [50, 'nodes', 'background work failed', undefined],
  ]
  expect(told()).toEqual(begun)
  vi.advanceTimersByTime(30_000)
  expect(told().slice(2).sort()).toEqual([
    [40, 'nodes', 'background work goes on', 2],
    [40, 'sweep', 'background work goes on', 92],
  ])
  expect(lines.find(({ failures }) => failures === 92)).toMatchObject({ seconds: 23 })
  failed('sweep', new Error('gone again'))
  expect(told().slice(4)).toEqual([begun[0]])
})
