import { expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'
import { createLog } from '../logging/log.ts'
import { logAccess } from './access-log.ts'

test('a request leaves one line, with the pattern of its route and nothing that the caller sent', async () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line: string) => lines.push(line) })
  const { app } = testApp({ log })
  logAccess(app)
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
