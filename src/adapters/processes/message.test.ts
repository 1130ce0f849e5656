import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { messageOf, receive } from './message.ts'

/** Sends a value in chunks of `chunkBytes`. */
async function sent(value: unknown, chunkBytes = 65_536): Promise<unknown> {
  const bytes = Buffer.concat(messageOf(value))
  const stream = new PassThrough()
  for (let at = 0; at < bytes.length; at += chunkBytes)
    stream.write(bytes.subarray(at, at + chunkBytes))
  return receive(stream)
}

const value = {
  rows: Uint32Array.of(1, 2 ** 32 - 1),
  nested: [{ codes: Uint16Array.of(7) }, [Float64Array.of(0.1, Number.NaN)], new Uint8Array(0)],
  text: 'Ä好😀',
  big: 10n ** 20n,
  at: new Date(5),
  none: undefined,
  bytes: Uint8Array.from({ length: 1_000 }, (_, at) => at),
}

test.each([1, 3, 1_000, 65_536])('a value arrives whole in chunks of %i bytes', async (bytes) => {
  expect(await sent(value, bytes)).toEqual(value)
})

test('an array that is a part of a larger one arrives as that part', async () => {
  const whole = Uint8Array.from({ length: 100 }, (_, at) => at)
  const arrived = (await sent({ part: whole.subarray(3, 5) })) as { part: Uint8Array }
  expect(arrived.part).toEqual(Uint8Array.of(3, 4))
  expect(arrived.part.buffer.byteLength).toBe(2)
})

test('an object that is met twice arrives as one', async () => {
  const index = { rows: Uint32Array.of(1) }
  const { listed, sold } = (await sent({ listed: index, sold: index })) as Record<string, unknown>
  expect(listed).toBe(sold)
  const { one, other } = (await sent({ one: index.rows, other: index.rows })) as Record<
    string,
    unknown
  >
  expect(one).toBe(other)
})

test('an error arrives with its message', async () => {
  expect(await sent({ error: new TypeError('why') })).toEqual({ error: new TypeError('why') })
})

test('what no process can be sent is refused by the one who sends it', () => {
  expect(() => messageOf({ numbers: Float32Array.of(1) })).toThrow('No Float32Array')
  expect(() => messageOf({ run: () => 1 })).toThrow()
})

test('a message that ends too soon is an error', async () => {
  const bytes = Buffer.concat(messageOf(value))
  for (const end of [0, 2, 10, bytes.length - 1]) {
    const stream = new PassThrough()
    stream.end(bytes.subarray(0, end))
    await expect(receive(stream), `after ${end} bytes`).rejects.toThrow('ended without a result')
  }
})
