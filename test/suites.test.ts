import { globSync } from 'node:fs'
import { expect, test } from 'vitest'
import config from '../vitest.config.ts'

interface Project {
  readonly test: { readonly include: string[]; readonly exclude?: string[] }
}
const projects = config.test?.projects as Project[]
const isIgnored = (path: string) => path === 'node_modules'
const found = (patterns: readonly string[]) => globSync(patterns, { exclude: isIgnored })

test('every test runs in one project, and every name in a list is one of a test', () => {
  const ran = projects.flatMap(({ test: { include, exclude = [] } }) => {
    const left = new Set(found(exclude))
    return found(include).filter((path) => !left.has(path))
  })
  expect(ran.sort()).toEqual(found(['**/*.test.ts']).sort())
  const named = projects.flatMap(({ test: { include } }) => include)
  expect(named.filter((pattern) => found([pattern]).length === 0)).toEqual([])
})
