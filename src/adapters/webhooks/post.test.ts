import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test, vi } from 'vitest'
import { type Reply, receiverCertificate, startReceiver } from '../../../test/harness/receiver.ts'
import {
  isLoopbackAddress,
  isPublicAddress,
  postAnywhere,
  type ReceiverNetwork,
  webhookPost,
} from './post.ts'

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
  ['120', 120_000],
  ['Thu, 01 Jan 2026 13:00:00 GMT', 3_600_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', undefined],
  ['soon', undefined],
])('reads how long a receiver asks to wait from Retry-After: %s', async (header, retryAfterMs) => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-01T12:00:00Z') })
  const { port } = await receiver(() => ({ status: 429, 'retry-after': header }))
  expect(await posting(port)).toEqual({ status: 429, ...(retryAfterMs && { retryAfterMs }) })
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

test.each([
  '8.8.8.8',
  '1.1.1.1',
  '100.128.0.1',
  '172.32.0.1',
  '192.169.0.1',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82a::200e',
])('%s is on the internet', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

test.each([
  // This network, loopback, private use, link-local (cloud metadata services), carrier-grade NAT.
  ...['0.0.0.0', '0.1.2.3', '127.0.0.1', '127.255.255.254', '10.0.0.1', '172.16.0.1'],
  ...['172.31.255.255', '192.168.1.1', '169.254.169.254', '100.64.0.1', '100.127.255.255'],
  // IETF protocols, documentation, 6to4 relays, benchmarks, multicast, reserved, broadcast.
  ...['192.0.0.8', '192.0.2.1', '198.51.100.1', '203.0.113.1', '192.88.99.1', '198.18.0.1'],
  ...['198.19.255.255', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
  ...['::', '::1', 'fe80::1', 'fe80::1%eth0', 'fec0::1', 'fc00::1', 'fd00:ec2::254', 'ff02::1'],
  // IPv6 that leads to IPv4: mapped, compatible, translated, NAT64, 6to4, Teredo.
  ...['::ffff:127.0.0.1', '::ffff:10.0.0.1', '::ffff:8.8.8.8', '::127.0.0.1', '::ffff:0:7f00:1'],
  ...['64:ff9b::7f00:1', '64:ff9b::8.8.8.8', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001::1'],
  // Documentation, discard, segment routing, unallocated.
  ...['2001:db8::1', '3fff::1', '100::1', '5f00::1', '4000::1', '8000::1'],
  ...['', 'localhost', '8.8.8.8.', '8.8.8.8:443', 'example.com'],
])('"%s" is not', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

test('only the machine itself is loopback', () => {
  expect(['127.0.0.1', '127.9.9.9', '::1'].map(isLoopbackAddress)).toEqual([true, true, true])
  const others = ['10.0.0.1', '8.8.8.8', '::', 'localhost', '::ffff:127.0.0.1']
  expect(others.map(isLoopbackAddress)).toEqual(others.map(() => false))
})

test('the receiver of the operator may be on this machine, and is not followed elsewhere', async () => {
  const calls: string[] = []
  const server = createServer((request, response) => {
    calls.push(`${request.method} ${request.url} ${request.headers['webhook-id']}`)
    response.writeHead(request.url === '/moved' ? 302 : 204, { location: '/elsewhere' }).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const call = (path: string) => {
    const url = `http://127.0.0.1:${port}${path}`
    return postAnywhere({ url, headers: { 'webhook-id': 'a' }, body: '{}' })
  }
  expect(await call('/hook')).toEqual({ status: 204 })
  expect(await call('/moved')).toEqual({ status: 302 })
  expect(calls).toEqual(['POST /hook a', 'POST /moved a'])
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
  expect(await call('/hook')).toEqual({ failure: expect.stringMatching(/^[A-Z_]+$/) })
})
