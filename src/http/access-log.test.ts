import { expect, test } from 'vitest'
import { createLog } from '../logging/log.ts'
import { website } from '../web/frame/website.fixture.ts'
import { logAccess } from './access-log.ts'

/** A store with everything that it has logged. */
function logged() {
  const lines: Record<string, unknown>[] = []
  const log = createLog('info', { write: (line: string) => lines.push(JSON.parse(line)) })
  const { app } = website({ log })
  logAccess(app)
  return { app, lines }
}

test('a request leaves one line, with the pattern of its route and nothing that the caller sent', async () => {
  const { app, lines } = logged()
  const answer = await app.inject({
    url: '/api/catalog/vouchers/offers/secret?token=secret',
    headers: { authorization: 'Bearer secret', 'payment-signature': 'secret' },
  })
  expect(lines).toEqual([
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

test('a flood leaves no line for what is refused or has no limit, and one for an accepted webhook', async () => {
  const { app, lines } = logged()
  app.post('/webhooks/test', async (request, reply) =>
    reply.status(request.headers['secret'] === 'ours' ? 204 : 401).send(),
  )
  for (let at = 0; at < 305; at += 1) await app.inject('/search')
  for (const url of ['/wp-login.php', '/robots.txt', '/style.css']) await app.inject(url)
  await app.inject({ method: 'PUT', url: '/api/nothing' })
  await app.inject({ method: 'DELETE', url: '/search', remoteAddress: '192.0.2.9' })
  await app.inject({ method: 'POST', url: '/webhooks/test' })
  await app.inject({ method: 'POST', url: '/webhooks/test', headers: { secret: 'ours' } })
  expect(lines.map(({ status }) => status)).toEqual([...Array(300).fill(200), 204])
})
