import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { faults } from './faults.ts'

test('docs/doctor.md lists exactly what the doctor can find', () => {
  const page = readFileSync('docs/doctor.md', 'utf8')
  const rows = page.split('\n').filter((line) => /^\| `\w+` \| (stop|warn|note) \|/.test(line))
  const expected = Object.entries(faults).map(
    ([code, { level, what, mend }]) => `| \`${code}\` | ${level} | ${what} | ${mend} |`,
  )
  expect(rows).toEqual(expected)
})
