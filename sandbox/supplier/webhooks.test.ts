import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import { stoppedAfterEach } from '../stopping.fixture.ts'
import { until } from '../waiting.fixture.ts'
import { ask, finalOf, startTestSupplier } from './client.fixture.ts'

const started = stoppedAfterEach()

/** A supplier, and a receiver of its reports that answers each request with the status from `answer`. */
async function begin(answer: (method: string) => number, retryMs: number[]) {
  const received: string[] = []
  const posts: string[] = []
  const server = createServer(async (request, response) => {
    const { method = '', headers } = request
    received.push(`${method} ${headers['x-hook']}`)
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    if (method === 'POST') posts.push(Buffer.concat(parts).toString())
    response.writeHead(answer(method)).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.closeAllConnections()
    return new Promise((resolve) => server.close(resolve))
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
  const webhook = { url, headerName: 'X-Hook', headerValue: 'known', retryMs }
  const supplier = await startTestSupplier({ webhook })
  started.push(supplier, { stop })
  const purchases = `${supplier.url}/v1/esim/purchases`
  await ask(purchases, { offerId: 'TEST-ESIM-OK', transactionId: 'H1' })
  return { posts, received, record: await finalOf(`${purchases}/H1`), supplier }
}

test('report every change, after a HEAD, as the record with the header', async () => {
  const { posts, received, record } = await begin(() => 204, [])
  await until(() => (posts.length >= 5 ? true : undefined))
  expect(received[0]).toMatch('HEAD')
  const bodies = posts.map((body) => JSON.parse(body))
  expect(bodies.map(({ status }) => status).sort()).toEqual([
    ...['ACCEPTED', 'AUTHORIZED', 'DONE', 'IN_PROGRESS', 'PENDING'],
  ])
  expect(bodies).toContainEqual(record)
  expect(new Set(received)).toEqual(new Set([received[0], 'POST known']))
})

test('are sent again until they are taken, and no oftener', async () => {
  let refusals = 3
  const answer = (method: string) => {
    if (method === 'HEAD') return 200
    refusals -= 1
    return refusals >= 0 ? 500 : 200
  }
  const { posts } = await begin(answer, [5, 5, 5, 5])
  await until(() => (posts.length >= 8 ? true : undefined))
  expect([posts.length, new Set(posts).size]).toEqual([8, 5])
})

test('are not sent to an address that fails the HEAD, and end with the supplier', async () => {
  // More tries than happen while the poll below waits.
  const { posts, received, supplier } = await begin(() => 404, Array(10_000).fill(20))
  await until(() => (received.length >= 10 ? true : undefined))
  expect(posts).toEqual([])
  await supplier.stop()
  started.splice(started.indexOf(supplier), 1)
  // A report that was under way may still arrive.
  const isQuiet = async () => {
    const count = received.length
    await new Promise((resolve) => setTimeout(resolve, 100))
    return received.length === count
  }
  await expect.poll(isQuiet).toBe(true)
})
