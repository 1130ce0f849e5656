import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'

const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md')]

/** Where a page leads inside the project, and the pictures that it shows. */
function targetsIn(markdown: string): readonly string[] {
  const links = markdown.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset)="([^"]+)"/g)
  return [...links]
    .map(([, link, picture]) => link ?? picture ?? '')
    .filter((target) => !/^[a-z]+:/.test(target))
}

/** The headings of a page, as GitHub names them in links. */
function anchorsOf(file: string): readonly string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.*)$/gm)
  return [...headings].map(([, heading = '']) => {
    const plain = heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '')
    return plain.trim().replaceAll(' ', '-')
  })
}

test.each(pages)('%s leads only to what is there', (page) => {
  const missing = targetsIn(readFileSync(page, 'utf8')).filter((target) => {
    const [path = '', anchor] = target.split('#')
    const file = path === '' ? page : join(dirname(page), path)
    if (!existsSync(file)) return true
    return anchor !== undefined && !anchorsOf(file).includes(anchor)
  })
  expect(missing).toEqual([])
})
