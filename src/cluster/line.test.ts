import { Socket } from 'node:net'
import { expect, test } from 'vitest'
import { createLine, type Wire } from './line.ts'

/** Two ends of one channel; what is sent arrives a little later, as JSON. */
function channel() {
  const ears: ((message: unknown) => void)[] = []
  const state = { isBroken: false }
  const end = (from: number): Wire => ({
    send(message, failed) {
      const text = JSON.stringify(message)
      if (state.isBroken) setImmediate(() => failed(new Error('channel closed')))
      else setImmediate(() => ears[1 - from]?.(JSON.parse(text)))
    },
    listen(hear) {
      ears[from] = hear
    },
  })
  return { state, one: createLine(end(0)), other: createLine(end(1)) }
}

test('each answer comes to its question, in whatever order they come', async () => {
  const { one, other } = channel()
  const open = new Map<string, (transaction: string) => void>()
  other.answer('faucet', (address) => new Promise((resolve) => open.set(address, resolve)))
  const answers = ['a', 'b'].map((address) => one.ask('faucet', address, 5_000))
  await expect.poll(() => open.size).toBe(2)
  open.get('b')?.('for b')
  open.get('a')?.('for a')
  expect(await Promise.all(answers)).toEqual(['for a', 'for b'])
})

test('both ends may ask', async () => {
  const { one, other } = channel()
  one.answer('counted', () => [])
  other.answer('numbers', async () => `${(await other.ask('counted', null, 5_000)).length} metrics`)
  expect(await one.ask('numbers', null, 5_000)).toBe('0 metrics')
})

test('what goes wrong on the other side is told here, and so is a question that nobody knows', async () => {
  const { one, other } = channel()
  other.answer('faucet', () => {
    throw new Error('the well is dry')
  })
  await expect(one.ask('faucet', 'a', 5_000)).rejects.toThrow('the well is dry')
  await expect(one.ask('numbers', null, 5_000)).rejects.toThrow('Nobody answers "numbers" here')
})

test('nobody waits for longer than they said, and an answer that is late disturbs nobody', async () => {
  const { one, other } = channel()
  const late = Promise.withResolvers<string>()
  other.answer('faucet', () => late.promise)
  await expect(one.ask('faucet', 'a', 1)).rejects.toThrow('"faucet" was not answered within 1 ms')
  late.resolve('too late')
  other.answer('faucet', () => 'in time')
  expect(await one.ask('faucet', 'b', 5_000)).toBe('in time')
})

test('a channel that is closed is told at once', async () => {
  const { state, one } = channel()
  state.isBroken = true
  await expect(one.ask('faucet', 'a', 600_000)).rejects.toThrow('channel closed')
})

test('who waits for an answer is told when the other side is gone', async () => {
  const { one, other } = channel()
  other.answer('faucet', () => new Promise<string>(() => undefined))
  const asked = one.ask('faucet', 'a', 5_000)
  const handed = one.hand(new Socket())
  one.hangUp()
  await expect(asked).rejects.toThrow('The other side is gone')
  await expect(handed).rejects.toThrow('The other side is gone')
})
