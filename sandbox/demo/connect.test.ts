import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from './connect.ts'
import { manifest, sandbox } from './demo.fixture.ts'
import { scriptedStore } from './scripted-store.fixture.ts'

const answers = { status: 200, body: manifest }

test('a sandbox store is met with a wallet that nobody had before', async () => {
  const script = {
    'GET /.well-known/x402': [answers, answers],
    'GET /sandbox': [
      { status: 200, body: sandbox },
      { status: 200, body: sandbox },
    ],
  }
  const { url } = await scriptedStore(script)
  const [one, two] = [await connect(url), await connect(url)]
  expect(one.manifest.name).toBe('Test store')
  expect(one.buyer.address).not.toBe(two.buyer.address)
})

test('nothing there: it says how to start a store', async () => {
  const { url } = await scriptedStore({})
  const nobody = url.replace(/\d+$/, '1')
  await expect(connect(nobody)).rejects.toThrow(
    `No store at ${nobody}. Start it with: npm start, or name another`,
  )
})

test('a store that goes away in the middle is not taken for none', async () => {
  const server = createServer((request) => request.socket.destroy())
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  onTestFinished(async () => {
    await new Promise((closed) => server.close(closed))
  })
  const { port } = server.address() as AddressInfo
  await expect(connect(`http://127.0.0.1:${port}`)).rejects.toThrow('broke the connection off')
})

test('a live store is left alone', async () => {
  const { url, received } = await scriptedStore({ 'GET /.well-known/x402': [answers] })
  await expect(connect(url)).rejects.toThrow(`The store at ${url} is not a sandbox`)
  expect(received.map(({ line }) => line)).toEqual(['GET /.well-known/x402', 'GET /sandbox'])
})

test('a sandbox that fails is not taken for a live store', async () => {
  const failing = { status: 503, body: { code: 'try_again', detail: 'Not now.' } }
  const { url } = await scriptedStore({
    'GET /.well-known/x402': [answers],
    'GET /sandbox': [failing],
  })
  await expect(connect(url)).rejects.toThrow('GET /sandbox answered 503 (try_again): Not now.')
})

test.each([
  ['a web page', '<html>', 'the body'],
  ['another manifest', { ...manifest, signals: {} }, 'signals.provider_health'],
])('%s instead of the manifest is named', async (_, body, where) => {
  const { url } = await scriptedStore({ 'GET /.well-known/x402': [{ status: 200, body }] })
  await expect(connect(url)).rejects.toThrow(
    `GET /.well-known/x402 answered 200, but ${where} is not as documented.`,
  )
})
