import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { chainClient } from './rpc.ts'

it('takes the state of a chain however large it has grown', async () => {
  const state = `0x${'ab'.repeat(6_000_000)}`
  const server = createServer((_, response) => {
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: state }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const dumped = await chainClient(`http://127.0.0.1:${port}`).dumpState()
  expect(dumped.length).toBe(state.length)
})
