import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

// Whoever reads a line has this repository and what is public. So a line gives its reason, or cites a
// record of this repository, a public standard or an issue with the name of its repository.

const parts = '{src,sandbox,test,chaos,bench,fuzz,doctor,deploy,openapi,examples,scripts,docs}'
const lines = globSync([
  `${parts}/**/*.{ts,mjs,js,sql,css,md,py,sh,yml,conf,service,env}`,
  '{README,ARCHITECTURE,CONTRIBUTING}.md',
  '{NOTICE,.env.example,vitest.config.ts,deploy/Caddyfile}',
])
  .filter((file) => file !== 'test/citations.test.ts')
  .flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((text, index) => ({ file, at: `${file}:${index + 1}`, text })),
  )

/** Those that the store makes and serves. */
const served = ['SKILL.md', 'skill.md']

test.each<[string, RegExp]>([
  ['a numbered decision instead of a record', /\bdecisions?,? (?:and )?\d/],
  ['a numbered finding', /\bfindings?[- ]\d/],
  ['an issue without the name of its repository', /(?<!\/[\w.-]+ )\bissues? #?\d/],
  [
    'a chapter of notes that are not here',
    /\b(?:suppliers|operators|pages|agents|x402) [A-H](?:\.\d+)?\b/,
  ],
  ['a chapter in brackets instead of a record', /\(reliability: /],
  ['a path of the machine that it was written on', /(?<![\w.])\/(?:work|home\/(?!you\b))\//],
])('no line cites %s', (_, pattern) => {
  const found = lines.filter(({ text }) => pattern.test(text))
  expect(found.map(({ at, text }) => `${at}: ${text.trim()}`)).toEqual([])
})

test('every document that a line names is in the repository', () => {
  const missing = lines.flatMap(({ file, at, text }) => {
    const named = [...text.matchAll(/[\w./-]*\w\.md\b/g)].map(([name]) => name)
    return named
      .filter((name) => !served.includes(name.replace(/^\//, '')))
      .filter((name) => !existsSync(name) && !existsSync(join(dirname(file), name)))
      .map((name) => `${at}: ${name}`)
  })
  expect(missing).toEqual([])
})

test('every record that a line names by its number is in docs/contributors/decisions', () => {
  const missing = lines.flatMap(({ at, text }) => {
    const named = [...text.matchAll(/\bdocs\/contributors\/decisions\/\d+/g)].map(([name]) => name)
    return named
      .filter((name) => globSync(`${name}-*.md`).length === 0)
      .map((name) => `${at}: ${name}`)
  })
  expect(missing).toEqual([])
})
