import { afterEach, expect, test, vi } from 'vitest'
import { type Reply, receiverCertificate, startReceiver } from '../../../test/harness/receiver.ts'
import { type ReceiverNetwork, webhookPost } from './post.ts'

const started: { stop(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((one) => one.stop()))
})

async function receiver(reply?: () => Reply) {
  const one = await startReceiver(reply)
  started.push(one)
  return one
}

const local = async () => ['127.0.0.1']

function posting(port: number, network: Partial<ReceiverNetwork> = {}, host = 'hooks.example.com') {
  const post = webhookPost({
    allowsLoopback: true,
    ca: receiverCertificate,
    resolve: local,
    ...network,
  })
  return post({
    url: `https://${host}:${port}/orders?a=b`,
    headers: { 'webhook-id': 'msg_1', 'content-type': 'application/json' },
    body: '{"type":"order.paid"}',
  })
}

test('posts over TLS to the host that was named', async () => {
  const { port, received } = await receiver()
  expect(await posting(port)).toEqual({ status: 204 })
  expect(received).toMatchObject([
    {
      path: '/orders?a=b',
      body: '{"type":"order.paid"}',
      headers: { host: `hooks.example.com:${port}`, 'webhook-id': 'msg_1' },
    },
  ])
})

test.each([['10.0.0.1'], ['127.0.0.1', '169.254.169.254'], ['8.8.8.8', '::ffff:127.0.0.1']])(
  'sends nothing to a host one of whose addresses is not public: %s',
  async (...addresses) => {
    const { port, received } = await receiver()
    expect(await posting(port, { resolve: async () => addresses })).toEqual({
      failure: 'address_not_public',
    })
    expect(received).toEqual([])
  },
)

test.each(['hooks.example.com', 'localhost', '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]'])(
  'sends nothing to this machine, named as %s, but in a sandbox',
  async (host) => {
    const { port, received } = await receiver()
    expect(await posting(port, { allowsLoopback: false }, host)).toEqual({
      failure: 'address_not_public',
    })
    expect(received).toEqual([])
  },
)

test('connects to the addresses that were looked at, whatever the name leads to a moment later', async () => {
  const { port, received } = await receiver()
  const resolve = vi.fn(async () => ['10.0.0.1']).mockImplementationOnce(local)
  expect(await posting(port, { resolve })).toEqual({ status: 204 })
  expect(resolve).toHaveBeenCalledTimes(1)
  expect(await posting(port, { resolve })).toEqual({ failure: 'address_not_public' })
  expect(received).toHaveLength(1)
})

test('follows no redirect', async () => {
  const target = await receiver()
  const location = `https://hooks.example.com:${target.port}/`
  const { port } = await receiver(() => ({ status: 307, location }))
  expect(await posting(port)).toEqual({ status: 307 })
  expect(target.received).toEqual([])
})

test.each([
  ['120', 120_000, 120_000],
  [new Date(Date.now() + 3_600_000).toUTCString(), 3_500_000, 3_600_000],
  [new Date(0).toUTCString(), undefined, undefined],
  ['soon', undefined, undefined],
])('reads how long a receiver asks to wait from Retry-After: %s', async (header, least, most) => {
  const { port } = await receiver(() => ({ status: 429, 'retry-after': header }))
  const posted = await posting(port)
  const asked = 'status' in posted ? posted.retryAfterMs : Number.NaN
  if (least === undefined) expect(asked).toBeUndefined()
  else expect(asked).toBeGreaterThanOrEqual(least)
  if (most !== undefined) expect(asked).toBeLessThanOrEqual(most)
})

test('gives up on a receiver that does not answer', async () => {
  const { port } = await receiver(() => 'never')
  expect(await posting(port, { timeoutMs: 200 })).toEqual({ failure: 'timeout' })
})

test('ends with a receiver that switches protocols', async () => {
  const { port } = await receiver(() => ({ status: 101, connection: 'Upgrade', upgrade: 'x' }))
  expect(await posting(port)).toEqual({ failure: 'connection_failed' })
})

test('trusts no certificate of another host, nor one that nobody signed', async () => {
  const { port, received } = await receiver()
  expect(await posting(port, {}, 'other.example.com')).toEqual({
    failure: 'ERR_TLS_CERT_ALTNAME_INVALID',
  })
  expect(await posting(port, { ca: undefined })).toEqual({ failure: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  expect(received).toEqual([])
})

test('says when a host is not there, or nothing listens', async () => {
  const { port, stop } = await startReceiver()
  await stop()
  expect(await posting(port)).toEqual({ failure: 'ECONNREFUSED' })
  const resolve = async () => Promise.reject(new Error('ENOTFOUND hooks.example.com'))
  expect(await posting(port, { resolve })).toEqual({ failure: 'host_not_found' })
})
