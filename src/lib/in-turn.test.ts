import { expect, test } from 'vitest'
import { inTurn } from './in-turn.ts'

test('work is done in the order in which it came, one piece at a time', async () => {
  const turn = inTurn()
  const told: string[] = []
  const gates = ['a', 'b', 'c'].map((name) => ({ name, ...Promise.withResolvers<void>() }))
  const results = gates.map(({ name, promise }) =>
    turn(async () => {
      told.push(`${name} begins`)
      await promise
      told.push(`${name} ends`)
      return name
    }),
  )
  // Whatever the last one waits for, it has not begun.
  for (const { resolve } of gates.toReversed()) resolve()
  expect(await Promise.all(results)).toEqual(['a', 'b', 'c'])
  expect(told).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('a failure is told to whoever brought the work, and holds up nobody else', async () => {
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

test('work that comes later, and from within work, has its turn too', async () => {
  const turn = inTurn()
  expect(await turn(async () => 1)).toBe(1)
  let inner: Promise<number> | undefined
  await turn(async () => {
    inner = turn(async () => 3)
  })
  expect(await inner).toBe(3)
})
