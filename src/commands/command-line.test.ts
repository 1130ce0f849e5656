import { afterEach, expect, test, vi } from 'vitest'
import { ConfigError } from '../environment/environment.ts'
import { printLines, runCommand, UsageError } from './command-line.ts'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

/** What a command that fails like this tells the person, and its exit code. */
async function failing(error: unknown, failed?: 2) {
  const told = vi.spyOn(console, 'error').mockImplementation(() => undefined)
  const main = () => Promise.reject(error)
  await runCommand({ name: 'refunds', usage: 'Usage: …', main, ...(failed && { failed }) })
  return [told.mock.calls.flat().join(), process.exitCode]
}

const withCode = (message: string, code: string) => Object.assign(new Error(message), { code })

test.each<[string, unknown, string, number]>([
  ['a wrong command line', new UsageError('Say what to do'), 'Say what to do.\n\nUsage: …', 2],
  ['a wrong environment', new ConfigError(['X is wrong']), 'X is wrong', 1],
  ['a URL, which may hold a key', new Error('no https://rpc.example/key'), 'no (its URL)', 1],
  ['a database without tables', withCode('x', '42P01'), 'Start the store on it first', 1],
  ['a database that is away', withCode('', 'ECONNREFUSED'), 'does not answer (ECONNREFUSED)', 1],
  ['anything else', 'text', 'The refunds command failed: text', 1],
])('a command that fails on %s says so', async (_, error, message, code) => {
  const [told, exitCode] = await failing(error)
  expect(told).toContain(message)
  expect(told).not.toContain('rpc.example')
  expect(exitCode).toBe(code)
})

test('a command may fail with another code', async () => {
  expect((await failing(new Error('silent'), 2))[1]).toBe(2)
})

test('what a command prints cannot steer the terminal of its operator', () => {
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  printLines(['ada\u001b[2J\u0007 \u202eevil\nfake line', '1.00 USDC – “ok”'])
  expect(printed.mock.calls).toEqual([
    ['ada\\u{1b}[2J\\u{7} \\u{202e}evil\\u{a}fake line\n1.00 USDC – “ok”'],
  ])
})
