import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { freePort } from '../../sandbox/port.ts'
import { openPort, type Taker } from './port.ts'

const host = '127.0.0.1'

/** A port that listens, and a client that says its name as soon as it is connected. */
async function listening() {
  const listener = openPort()
  const port = await freePort()
  await listener.listen({ host, port })
  const come = async (name: string) => {
    const client = connect({ host, port })
    client.on('error', () => undefined)
    await once(client, 'connect')
    client.write(name)
    return client
  }
  return { listener, come }
}

/** Decides by itself what becomes of each connection, and knows how many it was given. */
function taker(how: (connection: Socket) => Promise<boolean>) {
  const given: Socket[] = []
  const take: Taker['take'] = (connection) => {
    given.push(connection)
    return how(connection)
  }
  return { given, take }
}

test('whoever comes before there is a worker waits, and is given to one with all that it said', async () => {
  const { listener, come } = await listening()
  const client = await come('early')
  const said = Promise.withResolvers<string>()
  const worker = taker(async (connection) => {
    connection.once('data', (chunk) => said.resolve(String(chunk))).resume()
    await said.promise
    return true
  })
  listener.join(worker)
  expect(await said.promise).toBe('early')
  client.destroy()
  listener.gone(worker)
  listener.end()
})

test('workers get connections in turn, one at a time', async () => {
  const { listener, come } = await listening()
  const order: string[] = []
  const named = (name: string) => taker(async () => order.push(name) > 0)
  const workers = [named('a'), named('b'), named('c')]
  for (const worker of workers) listener.join(worker)
  const stuck = taker(() => new Promise(() => undefined))
  listener.join(stuck)
  for (let count = 0; count < 10; count += 1) {
    ;(await come('x')).destroy()
    await expect.poll(() => order.length + stuck.given.length).toBe(count + 1)
  }
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
  expect(stuck.given).toHaveLength(1)
  for (const worker of [...workers, stuck]) listener.gone(worker)
  listener.end()
})

test('what one refuses, or dies with, is given to another', async () => {
  const { listener, come } = await listening()
  const refusing = taker(async () => false)
  const dying = taker(async () => {
    throw new Error('killed')
  })
  const good = taker(async () => true)
  for (const worker of [refusing, dying, good]) listener.join(worker)
  for (let count = 1; count <= 3; count += 1) {
    await come('x')
    await expect.poll(() => good.given.length).toBe(count)
  }
  expect(refusing.given).toHaveLength(1)
  expect(dying.given).toHaveLength(1)
  listener.gone(good)
  listener.end()
})

test('it closes with the last worker once it was told to, and lets nobody wait then', async () => {
  const { listener, come } = await listening()
  const last = taker(async () => false)
  listener.join(last)
  listener.end()
  const client = await come('late')
  await text(client).catch(() => undefined)
  expect(last.given).toHaveLength(1)
  await expect(come('too late')).rejects.toThrow('ECONNREFUSED')
})
