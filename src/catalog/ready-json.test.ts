import { expect, test } from 'vitest'
import { voucher } from '../../test/fixtures/offers.ts'
import type { Offer } from './offer.ts'
import { type ReadyForm, type ReadyJson, readyAt, readyWriter } from './ready-json.ts'

const pieceBytes = 2 ** 16

/** Offers whose published forms are as long as a test wants them to be. */
function written(texts: readonly string[]) {
  const offers = texts.map((notes, row) => voucher(`V${row}`, { notes }))
  const writer = readyWriter(publish)
  for (const offer of offers) writer.add(offer)
  const ready = writer.finish()
  const expectRow = (row: number) => {
    const { discovery, beyond } = publish(offers[row] as Offer)
    expect(isSame(parsed(ready, row, 'discovery'), discovery), `discovery of ${row}`).toBe(true)
    const whole = { ...discovery, ...beyond }
    expect(isSame(parsed(ready, row, 'catalog'), whole), `catalog of ${row}`).toBe(true)
  }
  for (const row of offers.keys()) expectRow(row)
  return ready
}

function publish({ id, notes }: Offer) {
  return { discovery: { id, notes }, beyond: { more: `${id}é` } }
}

function parsed(ready: ReadyJson, row: number, form: ReadyForm): unknown {
  return JSON.parse(`${Buffer.from(readyAt(ready, row, form)).toString()}}`)
}

/** Megabytes are compared as text: a report of how they differ helps nobody. */
function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

test('both forms of an offer are the JSON of what is published', () => {
  written(['plain', '', 'Ärger "über" 好 😀', 'line\nbreak \u2028', '\ud83d half a pair'])
})

test('without anything beyond, both forms are the same', () => {
  const writer = readyWriter(() => ({ discovery: { id: 'é' }, beyond: {} }))
  writer.add(voucher('V'))
  const ready = writer.finish()
  expect(parsed(ready, 0, 'catalog')).toEqual({ id: 'é' })
  expect(parsed(ready, 0, 'discovery')).toEqual({ id: 'é' })
})

test('many offers fill one piece after the other, and none lies in two', () => {
  const ready = written(Array.from({ length: 60 }, (_, row) => `${'é'.repeat(5_000 + row)}`))
  const sizes = Array.from(ready.pieces, ({ length }) => length)
  expect(sizes).toEqual([1, 4, 16].map((times) => times * pieceBytes))
})

test.each([0, 1, 2, 3])('an offer that ends %i bytes before its piece does is whole', (left) => {
  // What is written may take three bytes for each of its characters, so that room is kept free.
  const frame = JSON.stringify({ ...publish(voucher('V0', { notes: '' })).discovery, more: 'V0é' })
  const most = Math.floor(pieceBytes / 3) - (frame.length - 1)
  written(['a'.repeat(most - left), 'next', '好'.repeat(most - left), 'last'])
})

test('an offer larger than a piece has one of its own, and others follow', () => {
  const large = '好'.repeat(2_000_000)
  written(['before', large, 'after', 'x'.repeat(1_000_000), large, large, 'last'])
})

test('one that takes little of the room kept for it leaves no place out of reach', () => {
  const most = 'a'.repeat(11_000_000)
  written(['a'.repeat(22_500_000), ...Array(4).fill(most), 'last'])
})
