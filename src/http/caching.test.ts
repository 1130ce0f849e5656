import { expect, test } from 'vitest'
import { testApp } from '../../test/fixtures/app.ts'

const url = '/ai/vouchers'

test('a caller that has the answer already gets 304', async () => {
  const { app } = testApp()
  const first = await app.inject(url)
  const { etag } = first.headers
  for (const tag of [`${etag}`, `W/${etag}`, `"other", ${etag}`, '*']) {
    const known = await app.inject({ url, headers: { 'if-none-match': tag } })
    expect([known.statusCode, known.body, known.headers.etag]).toEqual([304, '', etag])
    expect(known.headers['cache-control']).toBe(first.headers['cache-control'])
  }
  const other = await app.inject({ url, headers: { 'if-none-match': '"other"' } })
  expect(other.statusCode).toBe(200)
})

test('HEAD has the headers of GET, and no body', async () => {
  const { app } = testApp()
  const get = await app.inject(url)
  const head = await app.inject({ method: 'HEAD', url })
  expect([head.statusCode, head.body]).toEqual([200, ''])
  for (const name of ['content-length', 'etag', 'cache-control']) {
    expect(head.headers[name], name).toBe(get.headers[name])
  }
})

test('a kept answer counts against its limit, and 429 takes its place', async () => {
  const { app } = testApp()
  const statuses: number[] = []
  for (let at = 0; at < 61; at += 1) statuses.push((await app.inject(url)).statusCode)
  expect(statuses).toEqual([...Array(60).fill(200), 429])
})

test('an error is kept by nobody', async () => {
  const { app } = testApp()
  const headers = { 'if-none-match': '*' }
  const bad = await app.inject({ url: '/ai/vouchers?limit=0', headers })
  expect([bad.statusCode, bad.headers['cache-control']]).toEqual([400, 'no-store'])
})
