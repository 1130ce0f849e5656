import { expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { createLog } from '../logging/log.ts'
import { website } from '../web/frame/website.fixture.ts'
import { logAccess } from './access-log.ts'

test('a request leaves one line, with the pattern of its route and nothing that the caller sent', async () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => lines.push(line) })
  const { app, deps } = testApp({ log })
  logAccess(app, deps)
  const answer = await app.inject({
    url: '/api/catalog/vouchers/offers/secret?token=secret',
    headers: { authorization: 'Bearer secret', 'payment-signature': 'secret' },
  })
  expect(lines.map((line) => JSON.parse(line))).toEqual([
    {
      level: 30,
      time: expect.any(Number),
      reqId: answer.headers['x-request-id'],
      method: 'GET',
      route: '/api/catalog/vouchers/offers/:id',
      status: answer.statusCode,
      ms: expect.any(Number),
      msg: 'request',
    },
  ])
})

test('a flood leaves no line for each request that is turned away, whether it asks for data or for a page', async () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => lines.push(line) })
  const { app, deps } = website({ log })
  logAccess(app, deps)
  const floods = [
    { url: '/api/catalog/vouchers/brands', remoteAddress: '192.0.2.1' },
    { url: '/search', remoteAddress: '192.0.2.2' },
    // Its refusal comes from outside the routes of the pages.
    { url: '/search', remoteAddress: '192.0.2.3', method: 'DELETE' },
  ] as const
  for (const asked of floods) {
    lines.length = 0
    const last = await flood(() => app.inject({ ...asked, headers: { accept: 'text/html' } }))
    expect(last.statusCode).toBe(429)
    const logged = lines.map((line) => JSON.parse(line).status)
    expect(logged).toHaveLength(300)
    expect(logged).not.toContain(429)
  }
})

test.each([
  ['paths that do not exist', { url: '/wp-login.php' }],
  ['a path without a limit', { url: '/robots.txt' }],
  ['a method that nothing has', { method: 'PUT', url: '/api/nothing' }],
] as const)(
  'whoever asks too often for %s leaves only so many lines, and others all of theirs',
  async (_, asked) => {
    const lines: Record<string, unknown>[] = []
    const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) })
    const { app, deps, pass } = website({ log })
    logAccess(app, deps)
    const from = async (remoteAddress: string, times: number) => {
      for (let at = 0; at < times; at += 1) await app.inject({ ...asked, remoteAddress })
    }
    await from('192.0.2.1', 700)
    await from('192.0.2.2', 3)
    expect(lines).toHaveLength(600 + 3)
    pass(60_000)
    await from('192.0.2.1', 1)
    expect(lines.slice(603)).toMatchObject([
      {
        msg: 'requests without a line: each of their clients made more than 600 in a minute',
        requests: 100,
      },
      { msg: 'request' },
    ])
  },
)

/** More requests than any limit of reading allows in a minute. @returns the last answer */
async function flood<T>(ask: () => Promise<T>): Promise<T> {
  for (let at = 0; at < 304; at += 1) await ask()
  return ask()
}
