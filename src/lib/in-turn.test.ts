import { expect, test } from 'vitest'
import { inTurn } from './scheduling.ts'

test('runs functions one at a time, in the order of the calls', async () => {
  const turn = inTurn()
  const log: string[] = []
  const gates = ['a', 'b', 'c'].map((name) => ({ name, ...Promise.withResolvers<void>() }))
  const results = gates.map(({ name, promise }) =>
    turn(async () => {
      log.push(`${name} begins`)
      await promise
      log.push(`${name} ends`)
      return name
    }),
  )
  // Resolving the later gates first must not change the order.
  for (const { resolve } of gates.toReversed()) resolve()
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c'])
  expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('rejects only the failed call and continues with the next', async () => {
  const turn = inTurn()
  const failed = turn(() => Promise.reject(new Error('down')))
  const thrown = turn(() => {
    throw new Error('at once')
  })
  const fine = turn(async () => 'fine')
  await expect(failed).rejects.toThrow('down')
  await expect(thrown).rejects.toThrow('at once')
  expect(await fine).toBe('fine')
})
