import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { titlesIn } from './titles.ts'

const text = readFileSync('docs/contributors/attack-rules.md', 'utf8')
const rules = [...text.matchAll(/^\| \*\*(.+?)\*\*.*$/gm)].map(([row, rule = '']) => ({
  rule,
  cells: row.split(' | '),
  tests: [...row.matchAll(/`([^`›]+) › ([^`]+)`/g)].map(([, file = '', title = '']) => ({
    file,
    title,
  })),
}))

test('the page of attack rules has each of them', () => {
  expect(rules).toHaveLength(13)
  for (const { rule, cells } of rules) expect(cells, rule).toHaveLength(3)
})

test.each(rules)('“$rule” is held by tests that exist and are run', ({ tests }) => {
  expect(tests.length).toBeGreaterThan(0)
  for (const { file, title } of tests) {
    const path = `${file}.test.ts`
    expect(existsSync(path), path).toBe(true)
    expect(titlesIn(readFileSync(path, 'utf8'))).toContain(title)
  }
})
