import { describe, expect, test } from 'vitest'
import { Refusal } from '../../lib/refusal.ts'
import { readLimits, sentenceOf, usdcOf } from './body.ts'

function faultsOf(fields: Record<string, unknown>) {
  try {
    readLimits(fields)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect(error.code).toBe('invalid_body')
    return error.details.errors ?? []
  }
  return []
}

describe('a body of limits', () => {
  test.each<[Record<string, unknown>, Record<string, unknown>]>([
    [{ perOrderUsdc: '25' }, { perOrderUsdc: '25' }],
    [{ perDayUsdc: '0' }, { perDayUsdc: '0' }],
    [{ perDayUsdc: '999999999.999999' }, { perDayUsdc: '999999999.999999' }],
    [{ kinds: ['esim', 'topup'] }, { kinds: ['esim', 'topup'] }],
    [{ countries: ['de', 'US', 'xk'] }, { countries: ['DE', 'US', 'XK'] }],
    [
      { recipients: ['+5355564362', 'Ada@Example.com', `89${'1'.repeat(17)}`] },
      { recipients: ['+5355564362', 'Ada@Example.com', `89${'1'.repeat(17)}`] },
    ],
  ])('%j is taken', (fields, expected) => {
    expect(readLimits(fields)).toEqual(expected)
  })

  const amounts = [25, 1e3, -1, '', ' 25', '25 ', '-1', '+1', '1e3', '.5', '5.', '1,5', '$5', '0x5']
  test.each([...amounts, '1.1234567', '1234567890', 'NaN', '٣', null, true, ['5'], {}])(
    'an amount %j is refused, with the form that it must have',
    (value) => {
      for (const parameter of ['perOrderUsdc', 'perDayUsdc']) {
        expect(faultsOf({ [parameter]: value })).toMatchObject([
          { parameter, message: expect.stringContaining('written as text') },
        ])
      }
    },
  )

  test.each<[Record<string, unknown>, string, string]>([
    [{ kinds: ['vouchers'] }, 'kinds', 'Number 1 is none; did you mean voucher?'],
    [{ kinds: ['esim', 'car'] }, 'kinds', 'one or more of voucher, topup, esim'],
    [{ kinds: 'esim' }, 'kinds', 'must be a list'],
    [{ kinds: [] }, 'kinds', 'leave it out to allow every kind'],
    [{ kinds: [null] }, 'kinds', 'Number 1 is none'],
    [{ countries: ['US', 'uk'] }, 'countries', 'Number 2 is none; did you mean GB?'],
    [{ countries: ['Germany'] }, 'countries', 'did you mean DE?'],
    [{ countries: ['ZZ'] }, 'countries', 'Number 1 is none'],
    [{ countries: [] }, 'countries', 'leave it out to allow every country'],
    [{ countries: 'US,DE' }, 'countries', 'must be a list'],
    [{ countries: [7] }, 'countries', 'Number 1 is none'],
    [{ countries: Array(251).fill('US') }, 'countries', 'must be a list'],
    [{ recipients: ['+5355564362', 'ada'] }, 'recipients', 'Number 2 is none'],
    [{ recipients: ['5355564362'] }, 'recipients', 'E.164'],
    [{ recipients: [] }, 'recipients', 'leave it out to allow everyone'],
    [{ recipients: Array(51).fill('+5355564362') }, 'recipients', '1 to 50'],
    [{ perOrderUSD: '5' }, 'perOrderUSD', 'did you mean perOrderUsdc?'],
    [{ Kinds: ['esim'] }, 'Kinds', 'did you mean kinds?'],
    [{ budget: '5' }, 'budget', 'is not a limit; there are perOrderUsdc, perDayUsdc, kinds'],
    [{ constructor: 1 }, 'constructor', 'is not a limit'],
  ])('%j is refused, with the likely fix', (fields, parameter, message) => {
    expect(faultsOf(fields)).toMatchObject([
      { parameter, message: expect.stringContaining(message) },
    ])
  })

  test.each<[Record<string, unknown>, string]>([
    [{ perOrderUsdc: '$5' }, '5'],
    [{ perDayUsdc: 25 }, '25'],
    [{ kinds: ['vouchers'] }, 'voucher'],
    [{ countries: ['US', 'Germany'] }, 'DE'],
    [{ perOrderUSD: '5' }, 'perOrderUsdc'],
  ])('%j is told what it was probably meant to be', (fields, didYouMean) => {
    expect(faultsOf(fields)).toMatchObject([{ didYouMean }])
  })

  test('is told all its faults at once, and no recipient is repeated to anyone', () => {
    const faults = faultsOf({ perDayUsdc: 5, kinds: [], recipients: ['Ada Lovelace'], day: 1 })
    expect(faults.map(({ parameter }) => parameter).sort()).toEqual([
      ...['day', 'kinds', 'perDayUsdc', 'recipients'],
    ])
    expect(JSON.stringify(faults)).not.toContain('Ada')
  })

  test('that is empty sets nothing, and lifts nothing by mistake', () => {
    expect(faultsOf({})).toEqual([
      { parameter: 'perOrderUsdc', message: expect.stringContaining('send DELETE') },
    ])
  })
})

test('the sentence that is signed says what is set, and nobody’s number', () => {
  const body = readLimits({
    perOrderUsdc: '5',
    perDayUsdc: '12.5',
    kinds: ['esim', 'topup'],
    countries: ['us'],
    recipients: ['+5355564362'],
  })
  expect(sentenceOf(body)).toBe(
    'Limit what this wallet buys here to: at most 5.00 USDC per order; at most 12.50 USDC in any 24 hours; kinds esim, topup; countries US; 1 recipient.',
  )
  expect(sentenceOf(readLimits({ perDayUsdc: '0' }))).toContain(
    'at most 0.00 USDC in any 24 hours.',
  )
})

test.each([
  ['0', 0n],
  ['25', 25_000_000n],
  ['12.5', 12_500_000n],
  ['0.000001', 1n],
  ['007', 7_000_000n],
  ['999999999.999999', 999_999_999_999_999n],
])('%s USDC is %s atomic', (text, atomic) => {
  expect(usdcOf(text)).toBe(atomic)
})
