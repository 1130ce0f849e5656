import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { operations } from '../../src/api/operations.ts'
import { openStore, type Store } from './store.ts'

const run = promisify(execFile)

let store: Store
let pages: Record<'llms.txt' | 'llms-full.txt' | 'SKILL.md', string>

beforeAll(async () => {
  store = await openStore({ offers: 300 })
  const read = async (name: string) => {
    const response = await fetch(`${store.url}/${name}`)
    expect(response.status, name).toBe(200)
    expect(response.headers.get('content-type')).toMatch(/^text\/(plain|markdown); charset=utf-8$/)
    return response.text()
  }
  pages = {
    'llms.txt': await read('llms.txt'),
    'llms-full.txt': await read('llms-full.txt'),
    'SKILL.md': await read('SKILL.md'),
  }
})
afterAll(() => store.close())

test('every command of the skill does what it says', async () => {
  const commands = [...pages['SKILL.md'].matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) =>
    text.replace('OFFER_ID', 'TEST-VOUCHER-OK'),
  )
  expect(commands.length).toBeGreaterThan(1)
  for (const command of commands) {
    const { stdout } = await run('bash', ['-c', command])
    const answer = JSON.parse(stdout)
    expect(answer, command).not.toHaveProperty('error')
    expect(answer, command).not.toHaveProperty('code')
  }
})

test.each(['llms.txt', 'SKILL.md', 'llms-full.txt'] as const)(
  'every link of %s leads somewhere',
  async (name) => {
    const links = [...pages[name].matchAll(/\]\((http[^)]+)\)/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(3)
    for (const link of new Set(links)) {
      expect(link.startsWith(store.url), link).toBe(true)
      const { status } = await fetch(link)
      // MCP is spoken by POST only.
      expect(status, link).toBe(link.endsWith('/mcp') ? 405 : 200)
    }
  },
)

test.each(['llms.txt', 'SKILL.md', 'llms-full.txt'] as const)(
  '%s names no path that there is not',
  (name) => {
    const known = operations.map(({ method, path }) => `${method} ${path}`)
    const named = [...pages[name].matchAll(/`(GET|POST|PUT|DELETE) (\/[^`?]*)/g)].map(
      ([, method, path]) => `${method} ${path}`,
    )
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter((one) => !known.includes(one))).toEqual([])
  },
)

test('the map names every operation, and the whole text every parameter and refusal too', () => {
  for (const { method, path, query = {}, refusals } of operations) {
    expect(pages['llms.txt']).toContain(`\`${method} ${path}\``)
    const [, section = ''] = pages['llms-full.txt'].split(`\`${method} ${path}\`\n`)
    const [text = ''] = section.split('\n### ')
    for (const name of [...Object.keys(query), ...refusals]) expect(text).toContain(`\`${name}\``)
  }
})

test('the skill is one page that a model reads in one go', () => {
  expect(pages['SKILL.md']).toMatch(/^---\nname: [a-z-]{1,64}\ndescription: .{40,1024}\n---\n/)
  expect(pages['SKILL.md'].length).toBeLessThan(6_500)
  // ISO 3166-1 leaves the code of Kosovo to users, so nobody would guess that it is taken.
  expect(pages['SKILL.md']).toContain('`XK` is Kosovo')
  expect(pages['llms.txt']).toMatch(/^# .+\n\n> .+\n/)
})
