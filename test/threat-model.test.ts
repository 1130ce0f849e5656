import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const text = readFileSync('docs/contributors/threat-model.md', 'utf8')
const files = globSync('{src,test,fuzz}/**', { withFileTypes: false })
const named = [
  ...text.matchAll(/`([\w./-]+\.(?:ts|sql)|(?:src|test)\/[\w./-]+|adapters\/[\w./-]+)`/g),
].map(([, name = '']) => name)

test('the threat model names files at all', () => {
  expect(new Set(named).size).toBeGreaterThan(25)
})

test.each([...new Set(named)])('%s, which the threat model names, is there', (name) => {
  const there = files.some((file) => file === name || file.endsWith(`/${name}`))
  expect(there).toBe(true)
})
