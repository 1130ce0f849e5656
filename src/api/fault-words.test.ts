import { describe, expect, test } from 'vitest'
import { esim, open, topup, voucher } from '../../test/fixtures/offers.ts'
import { type Fields, readLineItem } from '../catalog/purchase-body.ts'
import { type Fault, invalidBody, Refusal } from '../lib/refusal.ts'
import { readLimits } from '../orders/spending-limits/body.ts'
import { faultsDetail, publishedFault } from './fault-words.ts'
import { problem } from './refusals.ts'

function faultsOf(work: () => unknown): readonly Fault[] {
  try {
    work()
  } catch (error) {
    if (error instanceof Refusal) return error.details.faults ?? []
    throw error
  }
  return []
}

const bought = (offer: Parameters<typeof readLineItem>[0], fields: Fields) =>
  faultsDetail(faultsOf(() => readLineItem(offer, fields)))

describe('a fault is told in a sentence', () => {
  const ada = { firstName: 'Ada', lastName: 'Lovelace' }
  const line = topup('LINE', { country: 'GT' })
  const card = voucher('OPEN', { price: open(500, 10_000, 250) })
  test.each([
    [bought(card, { ...ada, value: 'ten' }), /^value must be a number of US dollars/],
    [bought(card, ada), 'value is required for this offer.'],
    [bought(voucher('FIXED'), { ...ada, value: 5 }), /^value is only for open-value/],
    [bought(voucher('FIXED'), { ...ada, email: 'ada' }), 'email must be an e-mail address.'],
    [
      bought(voucher('FIXED'), { ...ada, fristName: 'x', country: 'Germany' }),
      'country must be an ISO 3166-1 alpha-2 code such as US; did you mean DE?; fristName is not a field of this purchase; did you mean firstName?',
    ],
    [bought(line, { msisdn: '+1' }), /^msisdn must be written with \+ and the country calling/],
    [
      bought(line, { msisdn: '+50455551234' }),
      'msisdn has the calling code +504; this offer is for GT, +502.',
    ],
    [
      bought(topup('DO', { country: 'DO' }), { msisdn: '+14155550123' }),
      'msisdn is a number of US; this offer is for DO.',
    ],
    [bought(line, { msisdn: '+50211111111' }), /if it is right, send confirmNumber: true\.$/],
    [bought(esim('PLAN'), { iccid: '12' }), /^iccid must be the 19 or 20 digits/],
    [
      faultsDetail(faultsOf(() => readLimits({ countries: ['US', 'uk'] }))),
      'countries must be a list of one or more ISO 3166-1 alpha-2 codes, such as ["US", "DE"]; leave it out to allow every country. Item 2 is not valid; did you mean GB?',
    ],
    [
      faultsDetail(faultsOf(() => readLimits({ budget: 5 }))),
      'budget is not a limit; the limits are perOrderUsdc, perDayUsdc, kinds, countries, recipients, approveAboveUsdc.',
    ],
    [faultsDetail(faultsOf(() => readLimits({}))), /^perOrderUsdc or another limit is required/],
  ])('%s', (detail, sentence) => {
    if (typeof sentence === 'string') expect(detail).toBe(sentence)
    else expect(detail).toMatch(sentence)
  })
})

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
