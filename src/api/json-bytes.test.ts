import fc from 'fast-check'
import { expect, test } from 'vitest'
import { jsonBytes } from './json-bytes.ts'

test('an answer is all its parts, one after the other, however long they are', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.nat(40_000).map((length) => '好'.repeat(length)),
    fc.nat(200_000).map((length) => 'a'.repeat(length)),
  )
  const part = fc.record({ text, isBytes: fc.boolean() })
  const answer = jsonBytes()
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      answer.begin()
      for (const { text, isBytes } of parts) {
        if (isBytes) answer.bytes(Buffer.from(text))
        else answer.text(text)
      }
      const expected = parts.map((each) => each.text.toWellFormed()).join('')
      // Megabytes are compared as bytes: a report of how they differ helps nobody.
      expect(answer.take().equals(Buffer.from(expected))).toBe(true)
    }),
    { numRuns: 60 },
  )
})

test.each([64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1])('%i bytes are whole', (length) => {
  for (const text of ['a', 'é', '好']) {
    const answer = jsonBytes()
    const first = text.repeat(Math.floor(length / Buffer.byteLength(text)))
    answer.bytes(Buffer.from(first))
    answer.text('好')
    expect(answer.take().equals(Buffer.from(`${first}好`))).toBe(true)
  }
})

test('an answer that was taken is nobody else’s any more', () => {
  const answer = jsonBytes()
  answer.text('{"first":"é"}')
  const first = answer.take()
  answer.begin()
  answer.text('{"second":"好"}')
  const second = answer.take()
  expect([first.toString(), second.toString()]).toEqual(['{"first":"é"}', '{"second":"好"}'])
  expect(first.buffer).not.toBe(second.buffer)
  // It holds its own bytes alone: what is kept for long must not keep a larger room alive.
  expect(first.buffer.byteLength).toBe(first.length)
})

test('an answer that was begun and never taken is forgotten', () => {
  const answer = jsonBytes()
  answer.text('{"total":1,"items":[')
  answer.begin()
  expect(answer.take()).toHaveLength(0)
  answer.text('{}')
  expect(answer.take().toString()).toBe('{}')
})
