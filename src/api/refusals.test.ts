import { expect, test } from 'vitest'
import { fixtureNow, topup, voucher } from '../../test/fixtures/offers.ts'
import { type Fields, readLineItem } from '../catalog/purchase-body.ts'
import { type Fault, invalidBody, Refusal } from '../lib/refusal.ts'
import { readLimits } from '../orders/spending-limits/keep.ts'
import { faultsDetail, problem, publishedFault } from './refusals.ts'

function faultsOf(work: () => unknown): readonly Fault[] {
  try {
    work()
  } catch (error) {
    if (error instanceof Refusal) return error.details.faults ?? []
    throw error
  }
  return []
}

const ada = { firstName: 'Ada', lastName: 'Lovelace' }
const bought = (offer: Parameters<typeof readLineItem>[0], fields: Fields) =>
  faultsDetail(faultsOf(() => readLineItem(offer, fields, { now: fixtureNow })))

test.each([
  [
    bought(voucher('FIXED'), { ...ada, fristName: 'x', country: 'Germany' }),
    'country must be an ISO 3166-1 alpha-2 code such as US; did you mean DE?; fristName is not a field of this purchase; did you mean firstName?',
  ],
  [
    bought(topup('LINE', { country: 'GT' }), { msisdn: '+50455551234' }),
    'msisdn has the calling code +504; this offer is for GT, +502.',
  ],
  [
    faultsDetail(faultsOf(() => readLimits({ countries: ['US', 'uk'] }))),
    'countries must be a list of one or more ISO 3166-1 alpha-2 codes, such as ["US", "DE"]; leave it out to allow every country. Item 2 is not valid; did you mean GB?',
  ],
])('a fault is told in a sentence: %s', (detail, sentence) => expect(detail).toBe(sentence))

test('a problem document has the sentence, and the one field that is wrong', () => {
  const fault = { field: 'value', code: 'out_of_range', min: '5.00', max: '9.00', step: '1.00' }
  const message = 'must be from 5.00 to 9.00 USD in steps of 1.00'
  const context = { siteUrl: '', requestId: '', charged: undefined }
  const { detail, parameter, errors, faults } = problem(invalidBody([fault as Fault]), context)
  expect({ detail, parameter, errors, faults }).toEqual({
    detail: `value ${message}.`,
    parameter: 'value',
    errors: [{ parameter: 'value', message }],
    faults: undefined,
  })
})

test('a caller’s own name of a field is repeated in short', () => {
  const [shown, said] = [`a${'\u{1f600}'.repeat(63)}`, 'is not a field of this purchase']
  const fault = { field: `${shown}${'b'.repeat(16_000)}`, code: 'unknown_field' } as const
  expect(publishedFault(fault)).toEqual({ parameter: shown, message: said })
  expect(faultsDetail([fault])).toBe(`${shown} ${said}.`)
})
