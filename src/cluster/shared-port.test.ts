import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { freePort } from '../../sandbox/port.ts'
import { type ConnectionReceiver, openSharedPort } from './shared-port.ts'

const host = '127.0.0.1'

/** A listening port, and a function that connects a client which sends its name. */
async function listening() {
  const listener = openSharedPort()
  const port = await freePort()
  await listener.listen({ host, port })
  const connectClient = async (name: string) => {
    const client = connect({ host, port })
    client.on('error', () => undefined)
    await once(client, 'connect')
    client.write(name)
    return client
  }
  return { listener, connectClient }
}

/** A receiver with the given behaviour, and the connections that it received. */
function receiver(handle: (connection: Socket) => Promise<boolean>) {
  const received: Socket[] = []
  const receive: ConnectionReceiver['receive'] = (connection) => {
    received.push(connection)
    return handle(connection)
  }
  return { received, receive }
}

test('keeps early connections and their data for the first worker', async () => {
  const { listener, connectClient } = await listening()
  const client = await connectClient('early')
  const data = Promise.withResolvers<string>()
  const worker = receiver(async (connection) => {
    connection.once('data', (chunk) => data.resolve(String(chunk))).resume()
    await data.promise
    return true
  })
  listener.add(worker)
  expect(await data.promise).toBe('early')
  client.destroy()
  listener.remove(worker)
  listener.close()
})

test('hands each worker one connection at a time, in turn', async () => {
  const { listener, connectClient } = await listening()
  const order: string[] = []
  const named = (name: string) => receiver(async () => order.push(name) > 0)
  const workers = [named('a'), named('b'), named('c')]
  for (const worker of workers) listener.add(worker)
  const stuck = receiver(() => new Promise(() => undefined))
  listener.add(stuck)
  for (let count = 0; count < 10; count += 1) {
    ;(await connectClient('x')).destroy()
    await expect.poll(() => order.length + stuck.received.length).toBe(count + 1)
  }
  expect(order).toEqual(['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
  expect(stuck.received).toHaveLength(1)
  for (const worker of [...workers, stuck]) listener.remove(worker)
  listener.close()
})

test('hands a connection to another worker when one refuses it or dies', async () => {
  const { listener, connectClient } = await listening()
  const refusing = receiver(async () => false)
  const dying = receiver(async () => {
    throw new Error('killed')
  })
  const good = receiver(async () => true)
  for (const worker of [refusing, dying, good]) listener.add(worker)
  for (let count = 1; count <= 3; count += 1) {
    await connectClient('x')
    await expect.poll(() => good.received.length).toBe(count)
  }
  expect(refusing.received).toHaveLength(1)
  expect(dying.received).toHaveLength(1)
  listener.remove(good)
  listener.close()
})

test('closes with the last worker and drops the connections that still wait', async () => {
  const { listener, connectClient } = await listening()
  const last = receiver(async () => false)
  listener.add(last)
  listener.close()
  const client = await connectClient('late')
  await text(client).catch(() => undefined)
  expect(last.received).toHaveLength(1)
  await expect(connectClient('too late')).rejects.toThrow('ECONNREFUSED')
})
