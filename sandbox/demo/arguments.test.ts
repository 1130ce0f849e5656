import { expect, test } from 'vitest'
import { readArguments } from './arguments.ts'

test('without arguments it is the store of npm start, for people', () => {
  expect(readArguments([], {})).toEqual({
    type: 'run',
    storeUrl: 'http://localhost:8402',
    json: false,
  })
})

test('--store comes before STORE_URL, which comes before the default', () => {
  const env = { STORE_URL: 'http://localhost:1' }
  expect(readArguments([], env)).toMatchObject({ storeUrl: 'http://localhost:1' })
  expect(readArguments([], { STORE_URL: '' })).toMatchObject({ storeUrl: 'http://localhost:8402' })
  expect(readArguments(['--store', 'https://a.example//', '--json'], env)).toEqual({
    type: 'run',
    storeUrl: 'https://a.example',
    json: true,
  })
})

test('--help asks for nothing else', () => {
  expect(readArguments(['--help', '--json'], {})).toEqual({ type: 'help' })
})

test.each([
  [['--store', 'localhost:8402'], '"localhost:8402" is not'],
  [['--store', ''], '"" is not'],
  [['--stroe', 'http://a.example'], "'--stroe'"],
  [['http://a.example'], 'http://a.example'],
])('%j is refused with its reason', (args, reason) => {
  expect(() => readArguments(args, {})).toThrow(reason)
})
