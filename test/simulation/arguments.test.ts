import { expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

test('everything has a default and can be set', () => {
  expect(readArguments([])).toMatchObject({ seed: 1, runs: 100, size: { orders: 30, nodes: 3 } })
  expect(
    readArguments(['--seed', '7', '--minutes', '9', '--orders', '5', '--nodes', '2']),
  ).toMatchObject({ seed: 7, minutes: 9, size: { orders: 5, nodes: 2 } })
})

test.each([
  ['--seed', '1_000'],
  ['--runs', '0'],
  ['--runs', 'many'],
  ['--orders', '0'],
  ['--nodes', 'two'],
  ['--minutes', '0'],
  ['--minutes', 'x'],
  ['--unknown', '1'],
])('%s %s is refused', (...args) => {
  expect(() => readArguments(args)).toThrow(args[0])
})
