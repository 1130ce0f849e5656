import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedDocuments } from '../scripts/docs.ts'
import {
  commonShape,
  liveShape,
  sandboxShape,
  secretVariables,
} from '../src/environment/environment.ts'

test.each(Object.entries(generatedDocuments()))('%s says what the code says', (file, text) => {
  expect(readFileSync(file, 'utf8') === text, 'run npm run docs').toBe(true)
})

test('a variable that sounds like a secret is one', () => {
  const secret = /KEY$|SECRET$|TOKEN$|PASSWORD|^(DATABASE|REDIS|SMTP|RPC)(_WITNESS)?_URLS?$/
  const named = Object.keys({ ...commonShape, ...sandboxShape, ...liveShape }).filter((name) =>
    secret.test(name),
  )
  expect(named.filter((name) => !secretVariables.includes(name))).toEqual([])
})
