import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { titlesIn } from './titles.ts'

const page = 'docs/contributors/reliability.md'
const text = readFileSync(page, 'utf8')
const rows = [...text.matchAll(/^\| (\d+) \|.*$/gm)].map(([row, number]) => {
  const cells = row.split(' | ')
  return { number: Number(number), cells, tests: cells.at(-1) ?? '' }
})

/** The tests that a piece of the page names: `file › test`. */
function testsIn(markdown: string): { readonly file: string; readonly title: string }[] {
  return [...markdown.matchAll(/`([^`›]+) › ([^`]+)`/g)].map(([, file = '', title = '']) => {
    return { file, title }
  })
}

/** Links to a heading of a document, written relative to the page. */
function anchorsIn(markdown: string): { readonly file: string; readonly anchor: string }[] {
  return [...markdown.matchAll(/\]\(([\w./-]+\.md)?#([\w-]+)\)/g)].map(([, file, anchor = '']) => {
    return { file: file === undefined ? page : join(dirname(page), file), anchor }
  })
}

function pathOf(file: string): string | undefined {
  return [`${file}.test.ts`, `${file}.ts`].find((path) => existsSync(path))
}

describe('docs/contributors/reliability.md', () => {
  test('numbers its failures in order, each with all its cells', () => {
    expect(rows.length).toBeGreaterThanOrEqual(115)
    const numbers = rows.map(({ number }) => number)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    for (const { number, cells } of rows) expect(cells, `row ${number}`).toHaveLength(5)
  })

  test('leaves nothing to do', () => {
    expect(text.match(/TODO\([^)]*\)[^|\n]*/g) ?? []).toEqual([])
  })

  test.each(rows)(
    'names for failure $number a test, or where it is written what is seen',
    (row) => {
      expect(testsIn(row.tests).length + anchorsIn(row.tests).length).toBeGreaterThan(0)
    },
  )

  test('names only tests that exist and are run', () => {
    const missing = testsIn(text).filter(({ file, title }) => {
      const path = pathOf(file)
      return path === undefined || !titlesIn(readFileSync(path, 'utf8')).includes(title)
    })
    expect(missing).toEqual([])
    expect(testsIn(text).length).toBeGreaterThan(80)
  })

  test('names only files that exist', () => {
    const files = [...text.matchAll(/`((?:src|test|docs)\/[\w./-]+\.(?:ts|sql|md))`/g)]
    expect(files.map(([, file = '']) => file).filter((file) => !existsSync(file))).toEqual([])
    expect(files.length).toBeGreaterThan(15)
  })
})

describe('the titles of tests in a file', () => {
  test.each([
    [`test('one', () => {})`, ['one']],
    [`  it("it's two", async () => {})`, [`it's two`]],
    [`test.concurrent(\n  'three',\n  { timeout },\n)`, ['three']],
    [`test.each([\n  ['a (b', "c)"],\n])('four %s', () => {})`, ['four %s']],
    [`test.each<[string, () => void]>(\n  table,\n)('five $what', () => {})`, ['five $what']],
    [`test.skipIf(only !== undefined)(\n  'six', () => {})`, ['six']],
    [`it.each(['x'] as const)('seven', () => {})`, ['seven']],
    [`it.each([{ a: ')' }, { b: 'x\\')' }])('eight', () => {})`, ['eight']],
    [`test.skip('not run', () => {})\ntest.todo('not written')`, []],
    [`// test('in a comment')\nconst test1 = 'nine'\ndescribe('ten', () => {})`, []],
  ])('%s', (source, titles) => {
    expect(titlesIn(source)).toEqual(titles)
  })
})
