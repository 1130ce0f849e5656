import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { startSeat, stopSeats } from '../../test/contract/limiter-seats.ts'
import { contractRules, describeRateLimiter } from '../../test/contract/rate-limiter.ts'
import { countingAtOwner, createOwner } from './counting.ts'
import { type CountAsk, createLine } from './line.ts'
import { wireToChild } from './wire.ts'

const monotonicMs = () => performance.now()

describeRateLimiter('by one process for three others', async () => {
  const owner = createOwner(contractRules, monotonicMs)
  const start = () =>
    startSeat(undefined, (child) => createLine(wireToChild(child)).answer('count', owner))
  const seats = await Promise.all([start(), start(), start()])
  return { seats: seats.map(({ counting }) => counting), close: () => stopSeats(seats) }
})

const [rule] = contractRules
if (rule === undefined) throw new Error('The contract has no rule')

test('what is asked in one turn travels as one message', async () => {
  const owner = createOwner(contractRules, monotonicMs)
  const messages: (readonly CountAsk[])[] = []
  const { take } = countingAtOwner({
    ask: (async (_: string, asks: readonly CountAsk[]) => {
      messages.push(asks)
      return owner(asks)
    }) as never,
  })(rule)
  const taken = await Promise.all(['a', 'b', 'a'].map(take))
  expect(taken.map(({ remaining }) => remaining)).toEqual([49, 49, 48])
  await setImmediate()
  expect(messages.map((asks) => asks.length)).toEqual([3])
})

test('a count that the owner cannot make is refused, and the next one is made', async () => {
  const owner = createOwner(contractRules, monotonicMs)
  let isAway = true
  const { take } = countingAtOwner({
    ask: (async (_: string, asks: readonly CountAsk[]) => {
      if (isAway) throw new Error('gone')
      return owner(asks)
    }) as never,
  })(rule)
  await expect(take('a')).rejects.toThrow('gone')
  isAway = false
  expect(await take('a')).toMatchObject({ allowed: true, remaining: 49 })
})
