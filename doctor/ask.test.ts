import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { askerOf } from './ask.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const limits = { timeoutMs: 300, maxBytes: 1_000, maxRequests: 3, maxWaitMs: 50 }

async function strangerAt(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('an answer that never comes is given up', async () => {
  const origin = await strangerAt(() => {})
  expect(await askerOf(origin, limits)('/')).toMatchObject({
    status: 0,
    failed: expect.stringMatching(/timeout/),
  })
})

test('an answer that never ends is given up', async () => {
  const origin = await strangerAt((_, response) => response.write('{'))
  expect(await askerOf(origin, limits)('/')).toMatchObject({
    status: 0,
    failed: expect.stringMatching(/timeout/),
  })
})

test('an answer that is too long is not read', async () => {
  const origin = await strangerAt((_, response) => response.end('x'.repeat(1_001)))
  const answer = await askerOf(origin, limits)('/')
  expect(answer.failed).toBe('the answer is longer than 1000 bytes')
})

test('headers without end are an answer that did not come', async () => {
  const origin = await strangerAt((_, response) => {
    response.setHeader('x-long', 'x'.repeat(100_000)).end()
  })
  expect(await askerOf(origin, limits)('/')).toMatchObject({
    status: 0,
    failed: expect.stringMatching(/header/i),
  })
})

test('redirects are not followed', async () => {
  const origin = await strangerAt((_, response) => {
    response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()
  })
  expect(await askerOf(origin, limits)('/')).toMatchObject({ status: 307 })
})

test('only so many requests are sent', async () => {
  let count = 0
  const origin = await strangerAt((_, response) => {
    count += 1
    response.end('{}')
  })
  const ask = askerOf(origin, limits)
  for (const _ of [1, 2, 3]) expect(await ask('/')).toMatchObject({ status: 200, json: {} })
  expect((await ask('/')).failed).toBe('after 3 requests the doctor stops')
  expect(count).toBe(3)
})

test('whatever path a store names, it is a path of that store', async () => {
  const origin = await strangerAt(({ url }, response) => response.end(url))
  const ask = askerOf(origin, { ...limits, maxRequests: 9 })
  for (const path of ['/', '//elsewhere.example/buy', '///', '/:80/buy', '/@elsewhere.example/']) {
    expect((await ask(path)).text).toBe(path)
  }
  expect((await ask('/\\elsewhere.example')).text).toBe('//elsewhere.example')
})

test('nobody else than the store is asked', async () => {
  const ask = askerOf('http://127.0.0.1:1', limits)
  await expect(ask('http://127.0.0.1:2/')).rejects.toThrow('does not go to http://127.0.0.1:2')
})

test('a store that limits calls is asked again when it says so, but not for ever', async () => {
  let count = 0
  const origin = await strangerAt((_, response) => {
    count += 1
    if (count > 1) return void response.end('{}')
    response.writeHead(429, { 'retry-after': '0' }).end()
  })
  expect(await askerOf(origin, limits)('/')).toMatchObject({ status: 200 })
  expect(count).toBe(2)
  const busy = await strangerAt((_, response) => {
    response.writeHead(429, { 'retry-after': '3600' }).end()
  })
  expect(await askerOf(busy, limits)('/')).toMatchObject({ status: 429 })
})
