import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

// A bare machine passes the tests: what needs a program that npm does not bring is left out there, with
// its reason (test/harness/left-out.ts).

/** Programs of every system that the store runs on, and those that got it there. */
const everywhere = ['cp', 'git', 'id', 'npm', 'ps', 'rm', 'sleep', 'tar', 'useradd']

const files = [
  ...globSync('{src,sandbox,chaos,bench,fuzz,doctor,deploy,openapi}/**/*.test.ts'),
  ...globSync('test/**/*.ts'),
]

test('a test that starts a program is left out where the program is missing', () => {
  const starts = /\b(?:spawn|spawnSync|execFile|execFileSync|run)\(\s*'([a-z][\w-]*)'/g
  const found = files.flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    if (/\bskipIf\(|\bleftOut\(/.test(text)) return []
    const programs = [...text.matchAll(starts)].map(([, name = '']) => name)
    return programs.filter((name) => !everywhere.includes(name)).map((name) => `${file}: ${name}`)
  })
  expect(found).toEqual([])
})
