import { expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

test('everything has a default and can be set', () => {
  expect(readArguments([])).toEqual({ inputs: 100_000, seed: 1, only: undefined })
  expect(readArguments(['--inputs', '50', '--seed', '7', '--only', '0'])).toEqual({
    inputs: 50,
    seed: 7,
    only: 0,
  })
})

test.each([
  ['--inputs', '100_000'],
  ['--inputs', '0'],
  ['--seed', 'x'],
  ['--only', 'x'],
  ['--only', ''],
  ['--unknown', '1'],
  ['4711'],
])('%s %s is refused', (...args) => {
  expect(() => readArguments(args)).toThrow(args[0])
})
