import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { stoppedAfterEach } from '../stopping.fixture.ts'
import { until } from '../waiting.fixture.ts'
import { ask, finalOf, startTestSupplier } from './client.fixture.ts'

interface Received {
  readonly method: string
  readonly secret: string | undefined
  readonly body: string
}

/** A receiver that answers each request with the status from `answer`. */
async function startReceiver(answer: (received: Received, count: number) => number) {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const { method = '', headers } = request
    const one = {
      method,
      secret: headers['x-hook']?.toString(),
      body: Buffer.concat(parts).toString(),
    }
    received.push(one)
    response.writeHead(answer(one, received.length)).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  return { received, stop, url }
}

const started = stoppedAfterEach()
const begin = async (answer: (received: Received, count: number) => number, retryMs: number[]) => {
  const receiver = await startReceiver(answer)
  const webhook = { url: receiver.url, headerName: 'X-Hook', headerValue: 'known', retryMs }
  const supplier = await startTestSupplier({ webhook })
  started.push(supplier, receiver)
  const buy = (transactionId: string) =>
    ask(`${supplier.url}/v1/esim/purchases`, { offerId: 'TEST-ESIM-OK', transactionId })
  return { buy, receiver, supplier }
}
const posts = (received: readonly Received[]) => received.filter(({ method }) => method === 'POST')

test('report every change, after a HEAD, as the record with the header', async () => {
  const { buy, receiver, supplier } = await begin(() => 204, [])
  await buy('H1')
  const record = await finalOf(`${supplier.url}/v1/esim/purchases/H1`)
  await until(() => (posts(receiver.received).length >= 5 ? true : undefined))
  expect(receiver.received[0]?.method).toBe('HEAD')
  const bodies = posts(receiver.received).map(({ body }) => JSON.parse(body))
  expect(bodies.map(({ status }) => status).sort()).toEqual([
    'ACCEPTED',
    'AUTHORIZED',
    'DONE',
    'IN_PROGRESS',
    'PENDING',
  ])
  expect(bodies).toContainEqual(record)
  expect(new Set(posts(receiver.received).map(({ secret }) => secret))).toEqual(new Set(['known']))
})

test('are sent again until they are taken, and no oftener', async () => {
  let refusals = 3
  const { buy, receiver } = await begin(
    ({ method }) => {
      if (method === 'HEAD') return 200
      refusals -= 1
      return refusals >= 0 ? 500 : 200
    },
    [5, 5, 5, 5],
  )
  await buy('H2')
  await until(() => (posts(receiver.received).length >= 8 ? true : undefined))
  const bodies = posts(receiver.received).map(({ body }) => body)
  expect(new Set(bodies).size).toBe(5)
  expect(bodies).toHaveLength(8)
})

test('are not sent to an address that fails the HEAD', async () => {
  const { buy, receiver, supplier } = await begin(() => 404, [5])
  await buy('H3')
  await finalOf(`${supplier.url}/v1/esim/purchases/H3`)
  await until(() => (receiver.received.length >= 10 ? true : undefined))
  expect(posts(receiver.received)).toEqual([])
})

test('end with the supplier', async () => {
  // More tries than happen while the poll below waits.
  const { buy, receiver, supplier } = await begin(() => 500, Array(10_000).fill(20))
  await buy('H4')
  await until(() => (receiver.received.length > 0 ? true : undefined))
  await supplier.stop()
  started.splice(started.indexOf(supplier), 1)
  // A report that was under way may still arrive.
  const isQuiet = async () => {
    const count = receiver.received.length
    await new Promise((resolve) => setTimeout(resolve, 100))
    return receiver.received.length === count
  }
  await expect.poll(isQuiet).toBe(true)
})
