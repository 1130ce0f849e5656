import { afterEach, expect, it } from 'vitest'
import {
  type RecordedRequest,
  type Reply,
  type ScriptedServer,
  startScripted,
} from '../scripted-server.fixture.ts'
import { createZenditClient } from './client.ts'

const apiKey = 'key-that-nobody-may-see'
const running: ScriptedServer[] = []

async function clientFor(script: (asked: RecordedRequest) => Reply, timeoutMs = 60_000) {
  const server = await startScripted(script)
  running.push(server)
  return { server, client: createZenditClient({ baseUrl: `${server.url}/`, apiKey, timeoutMs }) }
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()))
})

it('shows the key and speaks JSON both ways', async () => {
  const { client, server } = await clientFor(() => ({ json: { ok: true } }))
  expect(await client.post('/esim/purchases', { offerId: 'A' })).toEqual({
    outcome: 'answered',
    status: 200,
    body: { ok: true },
  })
  await client.get('/balance?x=1')
  const [post, get] = server.asked
  expect(post).toMatchObject({ method: 'POST', path: '/esim/purchases', body: { offerId: 'A' } })
  expect(post?.headers['authorization']).toBe(`Bearer ${apiKey}`)
  expect(post?.headers['content-type']).toBe('application/json')
  expect(get).toMatchObject({ method: 'GET', path: '/balance' })
  expect(get?.query.get('x')).toBe('1')
})

it('leaves every status to the caller, with or without JSON', async () => {
  const { client } = await clientFor(({ path }) =>
    path === '/html' ? { status: 502, text: '<h1>Bad gateway</h1>' } : { status: 403, json: {} },
  )
  expect(await client.get('/html')).toEqual({
    outcome: 'answered',
    status: 502,
    body: undefined,
  })
  expect(await client.get('/no')).toEqual({ outcome: 'answered', status: 403, body: {} })
})

it.each(['hang', 'stall'] as const)('gives up a call in time when servers %s', async (fault) => {
  const { client } = await clientFor(() => fault, 150)
  expect(await client.get('/x')).toEqual({
    outcome: 'unknown',
    reason: 'no answer within 150 ms',
  })
})

it('does not know what came of a broken connection', async () => {
  const { client } = await clientFor(() => 'reset')
  expect(await client.post('/x', {})).toEqual({
    outcome: 'unknown',
    reason: 'the connection failed (ECONNRESET)',
  })
  // Nobody listens on port 2. A port that was just closed may be another test's by now.
  const nobody = createZenditClient({ baseUrl: 'http://127.0.0.1:2/', apiKey, timeoutMs: 60_000 })
  expect(await nobody.post('/x', {})).toEqual({
    outcome: 'unknown',
    reason: 'the connection failed (ECONNREFUSED)',
  })
})

it('stops when its caller stops', async () => {
  const { client } = await clientFor(() => 'hang')
  const stop = new AbortController()
  const answer = client.get('/x', { signal: stop.signal })
  stop.abort()
  expect(await answer).toEqual({ outcome: 'unknown', reason: 'the call was stopped' })
})

it('does not read an answer without end', async () => {
  const { client } = await clientFor(() => ({ text: 'x'.repeat(2_000) }))
  expect(await client.get('/x', { maxBytes: 2_000 })).toMatchObject({ outcome: 'answered' })
  expect(await client.get('/x', { maxBytes: 1_999 })).toEqual({
    outcome: 'unknown',
    reason: 'the answer is too large',
  })
})

it('takes the key nowhere else', async () => {
  const elsewhere = await clientFor(() => ({ json: {} }))
  const { client } = await clientFor(() => ({
    status: 307,
    text: '',
    headers: { location: `${elsewhere.server.url}/steal` },
  }))
  expect(await client.get('/x')).toEqual({
    outcome: 'unknown',
    reason: 'it redirects, which is not followed',
  })
  expect(elsewhere.server.asked).toEqual([])
})

it('never puts the key into a reason, even one that fetch cannot send', async () => {
  const client = createZenditClient({
    baseUrl: 'http://127.0.0.1:9',
    apiKey: 'secret\nkey',
    timeoutMs: 60_000,
  })
  const answer = await client.get('/x')
  expect(answer).toEqual({ outcome: 'unknown', reason: 'the connection failed' })
})
