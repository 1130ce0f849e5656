import { expect, test } from 'vitest'
import { csvLine } from './csv.ts'

test.each([
  ['=cmd|"/C calc"!A0', `"'=cmd|""/C calc""!A0"`],
  ['+49 151 1', `'+49 151 1`],
  ['-2+3', `'-2+3`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['\t=1', `'\t=1`],
  ['\r=1', `"'\r=1"`],
])('the formula %j is text', (text, cell) => {
  expect(csvLine([text])).toBe(`${cell}\r\n`)
})

test('numbers stay numbers, and what separates cells is quoted', () => {
  const at = new Date('2026-10-01T00:00:00Z')
  expect(csvLine(['-12.500000', 7n, 'a,b', 'say "so"', undefined, null, at])).toBe(
    '-12.500000,7,"a,b","say ""so""",,,2026-10-01T00:00:00.000Z\r\n',
  )
})
