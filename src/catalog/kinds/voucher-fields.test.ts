import { expect, test } from 'vitest'
import { knownFields } from '../../../sandbox/supplier/required-fields.ts'
import { fixtureNow, fixturePricing, voucher } from '../../../test/fixtures/offers.ts'
import { Refusal } from '../../lib/refusal.ts'
import { retailOf } from '../pricing.ts'
import {
  bodySchemaFor,
  exampleBody,
  type Fields,
  kindSchemaFor,
  readLineItem,
  requiredFieldsOf,
  understoodFields,
  wholeSchemaFor,
} from '../purchase-body.ts'

const curious = voucher('CURIOUS', { country: 'US', requiredFields: knownFields })
const now = fixtureNow
const today = now.toISOString().slice(0, 10)

const read = (fields: Fields, offer = curious) =>
  readLineItem(offer, understoodFields(fields), { now })

const example = (): Fields => ({
  ...exampleBody(curious, retailOf(curious, fixturePricing())),
  deliveryDate: today,
})

function faultsOf(fields: Fields, offer = curious): string[] {
  try {
    read(fields, offer)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return (error.details.faults ?? []).map(({ field, code }) => `${field} ${code}`)
  }
  return []
}

test('every key of the published list is filled by a field, and the example of an offer is a purchase', () => {
  expect(retailOf(curious, fixturePricing()).type).toBe('FIXED')
  expect(requiredFieldsOf(curious)).toHaveLength(25)
  const { offerId: _, ...told } = example() as { offerId: string }
  expect(read(example()).recipient).toEqual({ kind: 'voucher', ...told })
})

test('of 25 required fields, each wrong one and each missing one is named in one answer', () => {
  const names = requiredFieldsOf(curious)
  const wrong = Object.fromEntries(names.map((name) => [name, '\u0007']))
  const malformed = names.map((name) => `${name} malformed`)
  expect(faultsOf({ ...example(), ...wrong }).toSorted()).toEqual(malformed.toSorted())
  const missing = names.map((name) => `${name} missing`)
  expect(faultsOf({ offerId: 'CURIOUS' }).toSorted()).toEqual(missing.toSorted())
  const strays = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`stray${at}`, 'x']))
  const faults = faultsOf({ ...example(), ...strays, senderMsisdn: '', recipientMsisdn: '1' })
  expect(faults.slice(0, 2)).toEqual(['recipientMsisdn malformed', 'senderMsisdn missing'])
  expect(faults.slice(2).every((fault) => fault.endsWith(' unknown_field'))).toBe(true)
})

test.each<[field: string, sent: string, kept: string | undefined]>([
  ['recipientMsisdn', '+1 (202) 456-1111', '+12024561111'],
  ['recipientMsisdn', '+491701234567', '+491701234567'],
  ['senderMsisdn', '+1202456111', undefined],
  ['senderMsisdn', '2024561111', undefined],
  ['senderMsisdn', '+19995550000', undefined],
  ['recipientAddressCountry', 'de', 'DE'],
  ['recipientAddressCountry', 'ZZ', undefined],
  ['senderAddressCountry', 'USA', undefined],
  ['recipientAddressPostal', ' SW1A 1AA ', 'SW1A 1AA'],
  ['recipientAddressPostal', '100-0001', '100-0001'],
  ['recipientAddressPostal', '00', '00'],
  ['senderAddressPostal', '1'.repeat(17), undefined],
  ['senderAddressPostal', '1  2', undefined],
  ['senderAddressPostal', `${'1'.repeat(10_000)}!`, undefined],
  ['recipientAddressStreet', 'Straße des 17. Juni 135', 'Straße des 17. Juni 135'],
  ['recipientAddressStreet', 'x'.repeat(81), undefined],
  ['deliveryLanguage', 'ES', 'es'],
  ['deliveryLanguage', 'xx', undefined],
  ['deliveryLanguage', 'english', undefined],
  ['deliveryMessage', 'x'.repeat(201), undefined],
  ['deliveryMessage', 'one\ntwo', undefined],
  ['deliveryDate', today, today],
  // A payment may come just after midnight.
  ['deliveryDate', new Date(now.getTime() - 86_400_000).toISOString().slice(0, 10), 'yesterday'],
  ['deliveryDate', new Date(now.getTime() + 86_400_000).toISOString().slice(0, 10), undefined],
  ['deliveryDate', '2026-02-30', undefined],
  ['deliveryDate', 'today', undefined],
])('%s %j is kept as %j', (field, sent, kept) => {
  const fields = { ...example(), [field]: sent }
  if (kept === undefined) expect(faultsOf(fields)).toEqual([`${field} malformed`])
  else expect(read(fields).recipient).toHaveProperty(field, kept === 'yesterday' ? sent : kept)
})

test('what an offer does not ask for is not taken', () => {
  const phone = voucher('PHONE', { requiredFields: ['recipient.msisdn'] })
  const ada = { firstName: 'Ada', lastName: 'Lovelace', recipientMsisdn: '+12024561111' }
  expect(read(ada, phone).recipient).toEqual({ kind: 'voucher', ...ada })
  expect(faultsOf({ ...ada, senderMsisdn: '+12024561111' }, phone)).toEqual([
    'senderMsisdn unknown_field',
  ])
})

test('the schema of an offer has the fields that it asks for, and that of the kind has none of them', () => {
  const namesIn = (schema: object) => Object.keys((schema as { properties: object }).properties)
  const phone = voucher('PHONE', { requiredFields: ['recipient.msisdn'] })
  const schema = bodySchemaFor(phone, retailOf(phone, fixturePricing()))
  expect(namesIn(schema).filter((name) => /^(recipient|sender|delivery)/.test(name))).toEqual([
    'recipientMsisdn',
  ])
  expect(schema['required']).toContain('recipientMsisdn')
  expect(namesIn(kindSchemaFor('voucher'))).not.toContain('recipientMsisdn')
  expect(namesIn(wholeSchemaFor('voucher'))).toEqual(
    expect.arrayContaining(requiredFieldsOf(curious)),
  )
})
