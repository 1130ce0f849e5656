import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startSeat, stopSeats } from '../../test/contract/limiter-seats.ts'
import { contractRules, describeRateLimiter } from '../../test/contract/rate-limiter.ts'
import { type CountRequest, createIpcPeer } from './ipc.ts'
import { channelToChild } from './ipc-channel.ts'
import { createRequestCounter, limitersAtPrimary } from './rate-limits.ts'

const monotonicMs = () => performance.now()

describeRateLimiter('by one process for three others', async () => {
  const counter = createRequestCounter(contractRules, monotonicMs)
  const start = () =>
    startSeat(undefined, (child) => createIpcPeer(channelToChild(child)).handle('count', counter))
  const seats = await Promise.all([start(), start(), start()])
  return { seats: seats.map(({ counting }) => counting), close: () => stopSeats(seats) }
})

const [rule] = contractRules
if (rule === undefined) throw new Error('The contract has no rule')

test('sends the counts of one turn of the event loop as one message', async () => {
  const counter = createRequestCounter(contractRules, monotonicMs)
  const messages: (readonly CountRequest[])[] = []
  const { take } = limitersAtPrimary({
    request: (async (_: string, requests: readonly CountRequest[]) => {
      messages.push(requests)
      return counter(requests)
    }) as never,
  })(rule)
  const taken = await Promise.all(['a', 'b', 'a'].map(take))
  expect(taken.map(({ remaining }) => remaining)).toEqual([49, 49, 48])
  await setImmediate()
  expect(messages.map((requests) => requests.length)).toEqual([3])
})

test('rejects a count that the primary cannot make and recovers afterwards', async () => {
  const counter = createRequestCounter(contractRules, monotonicMs)
  let isAway = true
  const { take } = limitersAtPrimary({
    request: (async (_: string, requests: readonly CountRequest[]) => {
      if (isAway) throw new Error('gone')
      return counter(requests)
    }) as never,
  })(rule)
  await expect(take('a')).rejects.toThrow('gone')
  isAway = false
  expect(await take('a')).toMatchObject({ allowed: true, remaining: 49 })
})
