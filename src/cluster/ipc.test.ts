import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createIpcPeer, type IpcChannel } from './ipc.ts'

/** The two ends of one channel. Messages arrive asynchronously, as JSON. */
function channel() {
  const listeners: ((message: unknown) => void)[] = []
  const state = { isBroken: false }
  const end = (from: number): IpcChannel => ({
    send(message, failed) {
      const text = JSON.stringify(message)
      if (state.isBroken) setImmediate(() => failed(new Error('channel closed')))
      else setImmediate(() => listeners[1 - from]?.(JSON.parse(text)))
    },
    listen(receive) {
      listeners[from] = receive
    },
  })
  return { state, one: createIpcPeer(end(0)), other: createIpcPeer(end(1)) }
}

test('matches responses to requests in any order', async () => {
  const { one, other } = channel()
  const open = new Map<string, (transaction: string) => void>()
  other.handle('faucet', (address) => new Promise((resolve) => open.set(address, resolve)))
  const answers = ['a', 'b'].map((address) => one.request('faucet', address, 5_000))
  await expect.poll(() => open.size).toBe(2)
  open.get('b')?.('for b')
  open.get('a')?.('for a')
  expect(await Promise.all(answers)).toEqual(['for a', 'for b'])
})

test('both processes can send requests', async () => {
  const { one, other } = channel()
  one.handle('ownMetrics', () => [])
  other.handle(
    'metrics',
    async () => `${(await other.request('ownMetrics', null, 5_000)).length} metrics`,
  )
  expect(await one.request('metrics', null, 5_000)).toBe('0 metrics')
})

test('rejects a request whose handler throws or does not exist', async () => {
  const { one, other } = channel()
  other.handle('faucet', () => {
    throw new Error('the faucet is empty')
  })
  await expect(one.request('faucet', 'a', 5_000)).rejects.toThrow('the faucet is empty')
  await expect(one.request('metrics', null, 5_000)).rejects.toThrow(
    'No handler for "metrics" requests',
  )
})

test('rejects a request after its timeout and ignores the late response', async () => {
  const { one, other } = channel()
  const late = Promise.withResolvers<string>()
  other.handle('faucet', () => late.promise)
  await expect(one.request('faucet', 'a', 1)).rejects.toThrow(
    '"faucet" was not answered within 1 ms',
  )
  late.resolve('too late')
  other.handle('faucet', () => 'in time')
  expect(await one.request('faucet', 'b', 5_000)).toBe('in time')
})

test('rejects a request at once when the channel is closed', async () => {
  const { state, one } = channel()
  state.isBroken = true
  await expect(one.request('faucet', 'a', 600_000)).rejects.toThrow('channel closed')
})

test('rejects pending requests when the other process exits', async () => {
  const { one, other } = channel()
  other.handle('faucet', () => new Promise<string>(() => undefined))
  const request = one.request('faucet', 'a', 5_000)
  const handoff = one.handOff(new Socket())
  one.close()
  await expect(request).rejects.toThrow('The other process has exited')
  await expect(handoff).rejects.toThrow('The other process has exited')
})
