import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createPublicClient,
  HttpRequestError,
  InternalRpcError,
  LimitExceededRpcError,
  RpcRequestError,
  TimeoutError,
} from 'viem'
import { afterEach, expect, test } from 'vitest'
import { checksAtOnce, nodeLoad, rpcTransport } from './rpc.ts'

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

interface RecordedRequest {
  readonly method: string
  readonly params: readonly [Record<string, string>]
}

/** A node that answers as told, and a client for it. */
async function nodeThat(
  answer: (response: ServerResponse, asked: RecordedRequest) => void,
  maxMs?: number,
) {
  const asked: RecordedRequest[] = []
  const authorizations: (string | undefined)[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request))
    asked.push(body)
    authorizations.push(request.headers.authorization)
    answer(response, body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createPublicClient({ transport: rpcTransport(url, undefined, maxMs) })
  return { url, asked, authorizations, client }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const result = (response: ServerResponse, value: unknown) => {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: value }))
}

test('an answer is read', async () => {
  const { client } = await nodeThat((response) => result(response, '0x14a34'))
  expect(await client.getChainId()).toBe(84_532)
})

test('no redirect is followed, wherever it leads', async () => {
  const other = await nodeThat((response) => result(response, '0x1'))
  const { client } = await nodeThat((response) => {
    response.writeHead(307, { location: other.url }).end()
  })
  await expect(client.getChainId()).rejects.toThrow('it redirects, which is not followed')
  expect(other.asked).toEqual([])
})

test('an answer that begins and does not end is given up', async () => {
  const { client } = await nodeThat((response) => {
    response.setHeader('content-type', 'application/json')
    response.write('{"jsonrpc":')
  }, 150)
  await expect(client.getChainId()).rejects.toThrow(TimeoutError)
})

test('an answer without an end in sight is not read to it', async () => {
  const { client } = await nodeThat((response) => {
    response.setHeader('content-type', 'application/json')
    const more = () => {
      while (response.write(' '.repeat(65_536))) if (response.destroyed) return
    }
    response.on('drain', more)
    more()
  })
  await expect(client.getChainId()).rejects.toThrow(/size|large/i)
})

test('a call may only compute so much, unless it says itself how much', async () => {
  const { client, asked } = await nodeThat((response) => result(response, '0x'))
  const to = `0x${'11'.repeat(20)}` as const
  await client.call({ to })
  await client.call({ to, gas: 21_000n })
  expect(asked.map(({ params: [{ gas }] }) => gas)).toEqual(['0x989680', '0x5208'])
})

test('an estimate may only try with so much', async () => {
  const { client, asked } = await nodeThat((response) => result(response, '0x5208'))
  const to = `0x${'11'.repeat(20)}` as const
  await client.estimateGas({ to })
  const estimates = asked.filter(({ method }) => method === 'eth_estimateGas')
  expect(estimates.map(({ params: [{ gas }] }) => gas)).toEqual(['0x3d0900'])
})

test('a name and a password in the address go into a header', async () => {
  const { url, authorizations } = await nodeThat((response) => result(response, '0x1'))
  const transport = rpcTransport(url.replace('//', '//me:p%40ss@'))
  expect(await createPublicClient({ transport }).getChainId()).toBe(1)
  expect(authorizations).toEqual([`Basic ${Buffer.from('me:p@ss').toString('base64')}`])
})

const refusal = JSON.stringify({ error: { code: -32_603, message: 'no such thing' } })

test.each([200, 400])(
  'a refusal of the node is told in its words, at status %d',
  async (status) => {
    const { client } = await nodeThat((response) => response.writeHead(status).end(refusal))
    const asking = client.getChainId()
    await expect(asking).rejects.toThrow(InternalRpcError)
    await expect(asking).rejects.toThrow(/no such thing/)
  },
)

/** The line that a log or a health check shows of the error. */
async function firstLineOf(asking: Promise<unknown>): Promise<string> {
  const error = await asking.then(
    () => new Error('it answered'),
    (reason: Error) => reason,
  )
  expect(error).toBeInstanceOf(HttpRequestError)
  expect((error as HttpRequestError).shortMessage).toBe(error.message.split('\n')[0])
  return (error as HttpRequestError).shortMessage
}

test.each([
  ['an error of HTTP', 503, '', 'The node answers 503.'],
  ['a page of a gateway', 502, '<html>', 'The node answers 502.'],
  ['a page instead of an answer', 200, '<html>', 'The node answers no JSON.'],
  ['nothing', 200, '', 'The node answers no JSON.'],
])('%s is no answer, and is asked for once more', async (_, status, text, told) => {
  const { client, asked } = await nodeThat((response) => response.writeHead(status).end(text))
  expect(await firstLineOf(client.getChainId())).toBe(told)
  expect(asked).toHaveLength(2)
})

test('a node that cannot be reached is told with the reason', async () => {
  const client = createPublicClient({ transport: rpcTransport('http://127.0.0.1:2') })
  expect(await firstLineOf(client.getChainId())).toBe(
    'The node cannot be asked: the connection failed (ECONNREFUSED).',
  )
})

const http = (status: number) =>
  new HttpRequestError({ body: {}, url: 'http://node', details: 'no', status })
const rpc = (code: number, message: string) =>
  new LimitExceededRpcError(
    new RpcRequestError({ body: {}, url: 'http://node', error: { code, message } }),
  )

test.each([
  ['429 of HTTP', http(429), true],
  ['a rate limit in JSON-RPC', rpc(-32_005, 'daily request rate limited'), true],
  ['a limit by the second', rpc(-32_007, '50/second request limit reached'), true],
  ['compute units', rpc(429, 'Your app has exceeded its compute units per second'), true],
  ['too many logs', rpc(-32_005, 'query returned more than 10000 results'), false],
  ['another status', http(503), false],
])('%s is a question too many: %s', (_, error, isOne) => {
  const load = nodeLoad()
  load.note(error)
  expect(load.isCrowded()).toBe(isOne)
})

test('a node is crowded for two seconds after a question too many, whatever it answers else', () => {
  let now = 0
  const load = nodeLoad(() => now)
  expect(load.isCrowded()).toBe(false)
  load.note(http(429))
  load.note()
  now = 1_999
  expect(load.isCrowded()).toBe(true)
  now = 2_000
  expect(load.isCrowded()).toBe(false)
})

test.each([
  ['as a rule', false, 100],
  ['at a crowded node', true, 4],
])(
  '%s so many payments are checked at once, and each that ends makes room',
  async (_, isCrowded, most) => {
    const bounded = checksAtOnce({ isCrowded: () => isCrowded })
    const ends: (() => void)[] = []
    const hanging = () => new Promise<string>((resolve) => ends.push(() => resolve('checked')))
    const all = Array.from({ length: most + 3 }, () => bounded(hanging, 'busy'))
    expect(await Promise.all(all.slice(most))).toEqual(['busy', 'busy', 'busy'])
    expect(ends).toHaveLength(most)
    ends[0]?.()
    expect(await all[0]).toBe('checked')
    const failing = bounded(() => Promise.reject(new Error('no')), 'busy')
    await expect(failing).rejects.toThrow('no')
    expect(await bounded(async () => 'checked', 'busy')).toBe('checked')
  },
)
