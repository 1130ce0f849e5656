import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { commonShape, liveShape, sandboxShape } from '../src/environment.ts'

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
