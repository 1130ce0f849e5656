import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, test } from 'vitest'
import { refusalsOf } from '../../src/api/operation.ts'
import { operations } from '../../src/api/operations.ts'
import { leftOut, works } from '../harness/left-out.ts'
import { useStore } from './store.ts'

const run = promisify(execFile)

const store = useStore({ offers: 300 })
let pages: Record<'llms.txt' | 'llms-full.txt' | 'SKILL.md', string>

beforeAll(async () => {
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

const noCurl = leftOut(
  works('curl', '--version') ? undefined : 'no command of the skill: apt-get install curl',
)

test.skipIf(noCurl)('every command of the skill does what it says', async () => {
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
  for (const operation of operations) {
    const { method, path, query = {} } = operation
    expect(pages['llms.txt']).toContain(`\`${method} ${path}\``)
    const [, section = ''] = pages['llms-full.txt'].split(`\`${method} ${path}\`\n`)
    const [text = ''] = section.split('\n### ')
    const names = [...Object.keys(query), ...refusalsOf(operation)]
    for (const name of names) expect(text).toContain(`\`${name}\``)
  }
})

test('the skill is one page that a model reads in one go', () => {
  expect(pages['SKILL.md']).toMatch(/^---\nname: [a-z-]{1,64}\ndescription: .{40,1024}\n---\n/)
  expect(pages['SKILL.md'].length).toBeLessThan(6_500)
  // A model that reads nothing else must find the search that understands it, and what it takes.
  for (const said of [
    '`GET /ai/search`',
    'covers',
    'minDataGb',
    'maxUsdc',
    'createSIWxClientHook',
  ]) {
    expect(pages['SKILL.md']).toContain(said)
  }
  expect(pages['llms.txt'].length).toBeLessThan(4_500)
  // ISO 3166-1 leaves the code of Kosovo to users, so nobody would guess that it is taken.
  expect(pages['SKILL.md']).toContain('`XK` is Kosovo')
  expect(pages['llms.txt']).toMatch(/^# .+\n\n> .+\n/)
})

describe('what hosts and indexes probe', () => {
  const read = async (path: string) => {
    const response = await fetch(`${store.url}${path}`)
    expect(response.status, path).toBe(200)
    return { type: response.headers.get('content-type'), text: await response.text() }
  }

  test('the card of the MCP server names its address', async () => {
    const { text } = await read('/.well-known/mcp/server-card.json')
    const { remotes, name } = JSON.parse(text)
    expect(remotes).toEqual([{ type: 'streamable-http', url: `${store.url}/mcp` }])
    expect(name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
    const beside = await read('/mcp/server-card')
    expect([beside.text, beside.type]).toEqual([
      text,
      expect.stringContaining('application/mcp-server-card+json'),
    ])
  })

  test('the index of skills has the digest of the skill', async () => {
    const { skills } = JSON.parse((await read('/.well-known/agent-skills/index.json')).text)
    expect(skills).toHaveLength(1)
    const { text } = await read(new URL(skills[0].url).pathname)
    expect(skills[0]).toMatchObject({
      name: 'buy-digital-goods',
      type: 'skill-md',
      digest: `sha256:${createHash('sha256').update(text).digest('hex')}`,
    })
    expect((await read('/skill.md')).text).toBe(text)
  })

  test('the catalog of interfaces leads to their descriptions, and the front page to it', async () => {
    const { headers } = await fetch(store.url)
    const links = [...(headers.get('link') ?? '').matchAll(/<([^>]+)>; rel="([^"]+)"/g)]
    expect(links.map(([, , rel]) => rel)).toContain('api-catalog')
    for (const [, path = ''] of links) await read(path)
    const { text, type } = await read('/.well-known/api-catalog')
    expect(type).toContain('application/linkset+json')
    const { linkset } = JSON.parse(text)
    expect(linkset.map(({ anchor }: { anchor: string }) => anchor)).toEqual(
      ['/ai', '/api/catalog', '/mcp'].map((path) => `${store.url}${path}`),
    )
    for (const href of new Set([...text.matchAll(/"href":"([^"]+)"/g)].map(([, at = '']) => at))) {
      await read(new URL(href).pathname)
    }
  })

  test('security.txt has a contact and ends within a year', async () => {
    const { text } = await read('/.well-known/security.txt')
    expect(text).toMatch(/^Contact: mailto:\S+@\S+$/m)
    const [, expires = ''] = /^Expires: (.*)$/m.exec(text) ?? []
    const days = (Date.parse(expires) - Date.now()) / 86_400_000
    expect(days).toBeGreaterThan(300)
    expect(days).toBeLessThan(366)
  })
})
