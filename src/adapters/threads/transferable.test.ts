import { expect, test } from 'vitest'
import { transferable } from './transferable.ts'

test('finds the memory of every array, however deep it lies', () => {
  const [one, two, three] = [new Uint32Array(1), new Float64Array(2), Buffer.alloc(3)]
  const value = { one, nested: [{ two }, [three]], text: 'x', none: null, number: 1, big: 1n }
  expect(transferable(value)).toEqual([one.buffer, two.buffer, three.buffer])
})

test('memory that several arrays lie in is named once', () => {
  const whole = new Uint8Array(8)
  const value = {
    whole,
    part: whole.subarray(2, 4),
    again: whole,
    words: new Uint32Array(whole.buffer),
  }
  expect(transferable(value)).toEqual([whole.buffer])
})

test('memory that threads share stays where it is', () => {
  const shared = new Uint8Array(new SharedArrayBuffer(8))
  const own = new Uint16Array(2)
  expect(transferable([shared, own, { shared }])).toEqual([own.buffer])
})

test('an object that is met twice, or that holds itself, is looked at once', () => {
  const numbers = new Uint8Array(1)
  const value: Record<string, unknown> = { numbers }
  value['self'] = value
  value['again'] = [value, value]
  expect(transferable(value)).toEqual([numbers.buffer])
})

test('there may be nothing to hand over', () => {
  for (const value of [undefined, null, 1, 'text', {}, []]) expect(transferable(value)).toEqual([])
})

test('what was handed over arrives whole and is gone here', () => {
  const value = { rows: Uint32Array.of(1, 2, 3), names: ['a'] }
  const arrived = structuredClone(value, { transfer: transferable(value) })
  expect(arrived).toEqual({ rows: Uint32Array.of(1, 2, 3), names: ['a'] })
  expect(value.rows).toHaveLength(0)
})
