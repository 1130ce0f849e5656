import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commonShape, liveShape, sandboxShape } from '../src/environment.ts'
import { sharedVariables } from '../src/shared-settings.ts'
import { secretVariables } from '../src/variables.ts'

const variables = ['MODE', ...Object.keys({ ...commonShape, ...sandboxShape, ...liveShape })].sort()

test('docs/configuration.md has a row for every variable, and for nothing else', () => {
  const rows = readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| `([A-Z0-9_]+)` \|/gm)
  expect([...rows].map(([, name]) => name).sort()).toEqual(variables)
})

test('.env.example names every variable', () => {
  const text = readFileSync('.env.example', 'utf8')
  const named = new Set([...text.matchAll(/^#?([A-Z0-9_]+)=/gm)].map(([, name]) => name))
  expect([...named].sort()).toEqual(variables)
})

test('docs/configuration.md names every secret that may be given as a file, and nothing else', () => {
  const text = readFileSync('docs/configuration.md', 'utf8')
  const [, listed = ''] = /<!-- secrets -->(.*)<!-- \/secrets -->/s.exec(text) ?? []
  const names = [...listed.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name)
  expect(names.sort()).toEqual([...secretVariables].sort())
})

test('docs/configuration.md names every setting that must agree, and nothing else', () => {
  const text = readFileSync('docs/configuration.md', 'utf8')
  const [, listed = ''] = /<!-- agree -->(.*)<!-- \/agree -->/s.exec(text) ?? []
  const names = [...listed.matchAll(/`([A-Z0-9_]+)`/g)].map(([, name]) => name)
  expect(names.sort()).toEqual([...sharedVariables].sort())
})

test('a variable that sounds like a secret is one', () => {
  const secret = /KEY$|SECRET$|TOKEN$|PASSWORD|^(DATABASE|REDIS|SMTP|RPC)(_WITNESS)?_URLS?$/
  expect(variables.filter((name) => secret.test(name) && !secretVariables.includes(name))).toEqual(
    [],
  )
})
