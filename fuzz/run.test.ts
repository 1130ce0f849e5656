import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { inputOf } from './input.ts'
import { material } from './material.fixture.ts'
import { run } from './run.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const answer = 'HTTP/1.1 204 No Content\r\n\r\n'
const seed = 7
/** The first input that is a whole request. */
const number = [...Array(100).keys()].find((at) => !inputOf(seed, at, material).isRaw) ?? 0

/** A server that answers every request, and with a second answer after this time. */
async function twiceAfter(ms: number | undefined) {
  const server = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => {
      socket.write(answer)
      if (ms !== undefined) setTimeout(() => socket.writable && socket.write(answer), ms)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => server.close())
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

/** The inputs whose connection had more than their answer. */
async function strayIn(ms: number | undefined): Promise<readonly number[]> {
  const target = { address: await twiceAfter(ms), secrets: [], material: async () => material }
  const { failures } = await run(target, { seed, from: number, to: number + 1, atOnce: 1 })
  const strays = failures.filter(({ problem }) => problem.includes('204 No Content'))
  return strays.map((failure) => failure.number)
}

test('one answer to one request is right', async () => {
  expect(await strayIn(undefined)).toEqual([])
})

test.each([0, 5])('a second answer to it is found, even %s ms after the first', async (ms) => {
  expect(await strayIn(ms)).toEqual([number])
})
