import fc from 'fast-check'
import { expect, test } from 'vitest'
import { voucher } from '../../test/fixtures/offers.ts'
import type { Offer } from './offer.ts'
import { copyReady, type ReadyForm, type ReadyJson, readyWriter } from './ready-json.ts'

/** Writes offers with these texts, and expects both of their forms to come back byte for byte. */
function written(texts: readonly string[]): ReadyJson {
  const offers = texts.map((notes, row) => voucher(`V${row}`, { notes }))
  const writer = readyWriter(publish)
  for (const offer of offers) writer.add(offer)
  const ready = writer.finish()
  for (const [row, offer] of offers.entries()) {
    const { discovery, beyond } = publish(offer)
    // Compares texts and expects true: a diff of megabytes would help nobody.
    const isSame = (form: ReadyForm, value: object) =>
      textOf(ready, row, form) === Buffer.from(JSON.stringify(value)).toString()
    expect(isSame('discovery', discovery), `discovery of ${row}`).toBe(true)
    expect(isSame('catalog', { ...discovery, ...beyond }), `catalog of ${row}`).toBe(true)
  }
  return ready
}

function publish({ id, notes }: Offer) {
  return { discovery: { id, notes }, beyond: { more: `${id}é`, again: notes } }
}

function textOf(ready: ReadyJson, row: number, form: ReadyForm): string {
  const parts: Uint8Array[] = []
  const range = (bytes: Uint8Array, from: number, to: number) => parts.push(bytes.slice(from, to))
  copyReady(ready, row, form, { range })
  return `${Buffer.concat(parts).toString()}}`
}

test('both forms of an offer are the JSON of what is published', () => {
  written(['plain', '', 'Ärger "über" 好 😀', 'line\nbreak \u2028', '\ud83d half a pair'])
})

test('so they are of any texts, which have beginnings, middles and ends in common', () => {
  const phrase = fc.oneof(
    fc.constantFrom('a'.repeat(40), 'b'.repeat(64), `${'Gift card, 5 USD. '.repeat(9)}`, '好é😀'),
    fc.string({ maxLength: 90, unit: 'grapheme' }),
  )
  const text = fc.array(phrase, { maxLength: 8 }).map((phrases) => phrases.join(''))
  fc.assert(
    fc.property(fc.array(text, { minLength: 1, maxLength: 30 }), (texts) => {
      written(texts)
    }),
  )
})

test('without anything beyond, both forms are the same', () => {
  const writer = readyWriter(() => ({ discovery: { id: 'é' }, beyond: {} }))
  writer.add(voucher('V'))
  const ready = writer.finish()
  expect(textOf(ready, 0, 'catalog')).toBe('{"id":"é"}')
  expect(textOf(ready, 0, 'discovery')).toBe('{"id":"é"}')
})

test('what many offers say is kept once', () => {
  const common = 'Redeem the code on the website of the brand within twelve months. '.repeat(4)
  const texts = Array.from({ length: 500 }, (_, at) => `Card ${at}. ${common}`)
  expect(written(texts).memory.length).toBeLessThan(500 * 150)
})

test('a text longer than a part can be is whole, the second time too', () => {
  const long = Array.from({ length: 50_000 }, (_, at) => `${at} `).join('')
  written(['before', long, 'between', long, `${long}.`, 'after'])
})
