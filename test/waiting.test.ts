import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// A machine stands still at times, so a test waits for what happens and not for time to pass. The one
// limit of tests (vitest.config.ts) and that of `eventually` only end what hangs.

const files = globSync('{src,sandbox,test,chaos,bench,fuzz,doctor,deploy,openapi}/**/*.ts')
const tests = files.filter((file) => /\.test\.ts$|^test\/stories\//.test(file))

test.each<[string, RegExp]>([
  ['pauses a page for a while', /\bwaitForTimeout\(/],
  // A policy without 'unsafe-eval' refuses a text that is looked at again and again.
  ['has a page evaluate a text until it is true', /\bwaitForFunction\(\s*['"`]/],
  ['gives up a poll by itself', /\bexpect\.poll\([^\n]*timeout/],
  ['polls for one second, as vi does', /\bvi\.wait(For|Until)\(/],
])('no test %s', (_, pattern) => {
  const found = tests.filter(
    (file) => file !== 'test/waiting.test.ts' && pattern.test(readFileSync(file, 'utf8')),
  )
  expect(found).toEqual([])
})

test('no test has a limit of its own', () => {
  const own = /^const timeout = |\btestTimeout:/m
  expect(tests.filter((file) => own.test(readFileSync(file, 'utf8')))).toEqual([])
})
