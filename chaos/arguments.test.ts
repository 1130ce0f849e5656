import { expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

test('everything has a default and can be set', () => {
  expect(readArguments([])).toMatchObject({ seconds: 120, seed: 402, nodes: 2, endLeases: false })
  expect(
    readArguments(['--seconds', '9', '--seed', '7', '--nodes', '3', '--end-leases']),
  ).toMatchObject({ seconds: 9, seed: 7, nodes: 3, endLeases: true })
  expect(readArguments(['--orders', '50', '--kill-every', '2', '--buyers', '4'])).toMatchObject({
    orders: 50,
    killEverySeconds: 2,
    buyers: 4,
  })
  expect(readArguments(['--help', '--seconds', 'no'])).toBe('help')
})

test.each([
  ['--seconds', '0'],
  ['--seconds', '1.5'],
  ['--nodes', 'two'],
  ['--seed', ' 7'],
  ['--unknown', '1'],
])('%s %s is refused', (...args) => {
  expect(() => readArguments(args)).toThrow()
})
