import { expect, test } from 'vitest'
import { stoppedAfterEach } from '../stopping.fixture.ts'
import { until } from '../waiting.fixture.ts'
import { apiKey, ask, startTestBtcpay, storeId } from './client.fixture.ts'

const started = stoppedAfterEach()

const invoices = `/api/v1/stores/${storeId}/invoices`

async function begin() {
  const server = await startTestBtcpay()
  started.push(server)
  const call = (what: string, body?: unknown, key?: string) => ask(server.url, what, body, key)
  const create = () => call(`POST ${invoices}`, { amount: '5', currency: 'USD' })
  const list = async () => (await call(`GET ${invoices}`)).body
  return { call, create, list, url: server.url }
}

test('the next calls can fail, be cut off, or be slow, and then all is well again', async () => {
  const { call, create, list } = await begin()
  await call('POST /sandbox/faults', { mode: 'error', times: 2 })
  expect((await create()).status).toBe(500)
  expect((await create()).status).toBe(500)
  await call('POST /sandbox/faults', { mode: 'drop' })
  await expect(create()).rejects.toThrow()
  await call('POST /sandbox/faults', { mode: 'slow', delayMs: 1 })
  expect((await create()).status).toBe(200)
  expect(await list()).toHaveLength(1)
})

test('a deed can be done and its answer lost', async () => {
  const { call, create, list } = await begin()
  await call('POST /sandbox/faults', { mode: 'lose', only: `POST ${invoices}` })
  await expect(create()).rejects.toThrow()
  expect(await list()).toHaveLength(1)
})

test('a call can hang, and is not carried out', async () => {
  const { call, list, url } = await begin()
  await call('POST /sandbox/faults', { mode: 'hang', only: 'POST' })
  const leaving = new AbortController()
  const hanging = fetch(`${url}${invoices}`, {
    method: 'POST',
    headers: { authorization: `token ${apiKey}`, 'content-type': 'application/json' },
    body: '{"amount":"5"}',
    signal: leaving.signal,
  })
  const given = hanging.then(
    () => 'answered',
    () => 'left',
  )
  await until(async () =>
    (await call('GET /sandbox/faults')).body.requests.length === 0 ? true : undefined,
  )
  leaving.abort()
  expect(await given).toBe('left')
  expect(await list()).toEqual([])
})

test('faults meet only what they are for, and can be taken back', async () => {
  const { call, create, list } = await begin()
  const set = { mode: 'error', times: 5, only: 'POST ' }
  expect((await call('POST /sandbox/faults', set)).body.requests).toHaveLength(1)
  expect(await list()).toEqual([])
  expect((await create()).status).toBe(500)
  expect((await call('DELETE /sandbox/faults')).body).toEqual({ requests: [], webhooks: [] })
  expect((await create()).status).toBe(200)
  expect((await call('POST /sandbox/faults', { mode: 'explode' })).status).toBe(422)
})

test('nobody gets in without the key, nor into another store', async () => {
  const { call } = await begin()
  for (const key of ['', 'wrong', 'test-key2']) {
    expect(await call(`GET ${invoices}`, undefined, key)).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    })
  }
  expect(await call('GET /api/v1/stores/Other/invoices')).toMatchObject({
    status: 403,
    body: { code: 'missing-permission' },
  })
  expect((await call('GET /api/v1/health', undefined, '')).body).toEqual({ synchronized: true })
  expect((await call('GET /api/v1/nothing')).status).toBe(404)
  expect((await call('DELETE /api/v1/pull-payments/x', undefined, '')).status).toBe(401)
})

test('a body that is no JSON is told so', async () => {
  const { url } = await begin()
  const response = await fetch(`${url}${invoices}`, {
    method: 'POST',
    headers: { authorization: `token ${apiKey}`, 'content-type': 'application/json' },
    body: '{"amount":',
  })
  expect(response.status).toBe(422)
  expect(await response.json()).toEqual([{ path: '', message: 'The body is not JSON.' }])
})
