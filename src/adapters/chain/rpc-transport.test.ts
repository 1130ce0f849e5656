import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createPublicClient } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { rpcTransport } from './rpc-transport.ts'

const stops: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

/** A node that answers as it is told, and a client that speaks with it. */
async function nodeThat(
  answer: (response: ServerResponse, asked: { params: [Record<string, string>] }) => void,
  mostMs?: number,
) {
  const asked: { method: string; params: [Record<string, string>] }[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await textOf(request))
    asked.push(body)
    answer(response, body)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  stops.push(async () => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const client = createPublicClient({ transport: rpcTransport(url, mostMs) })
  return { url, asked, client }
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
  await expect(client.getChainId()).rejects.toThrow()
  expect(other.asked).toEqual([])
})

test('an answer that begins and does not end is given up', async () => {
  const { client } = await nodeThat((response) => {
    response.setHeader('content-type', 'application/json')
    response.write('{"jsonrpc":')
  }, 150)
  await expect(client.getChainId()).rejects.toThrow()
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
