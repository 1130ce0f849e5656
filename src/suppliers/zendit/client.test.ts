import { expect, it } from 'vitest'
import { type ScriptOf, scriptedClient } from '../scripted-server.fixture.ts'
import { createZenditClient } from './client.ts'

const apiKey = 'key-that-nobody-may-see'
const clientFor = (script: ScriptOf, timeoutMs?: number) =>
  scriptedClient(script, timeoutMs, apiKey)
const nobody = (url: string, key = apiKey) => createZenditClient({ url, key }, 60_000)

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

it.each([
  ['hang', 150, 'no answer within 150 ms'],
  ['stall', 150, 'no answer within 150 ms'],
  ['reset', 60_000, 'the connection failed (ECONNRESET)'],
] as const)('does not know what came of a call when servers %s', async (fault, ms, reason) => {
  const { client } = await clientFor(() => fault, ms)
  expect(await client.post('/x', {})).toEqual({ outcome: 'unknown', reason })
})

it.each([
  // Nobody listens on port 2. A port that was just closed may be another test's by now.
  ['a server that is away', apiKey, 'the connection failed (ECONNREFUSED)'],
  ['a key that fetch cannot send, and keeps it to itself', 'secret\nkey', 'the connection failed'],
])('reports %s', async (_, key, reason) => {
  const answer = await nobody('http://127.0.0.1:2/', key).get('/x')
  expect(answer).toEqual({ outcome: 'unknown', reason })
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
