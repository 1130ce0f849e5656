import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { canonicalJson } from '../../lib/canonical-json.ts'
import { Refusal } from '../../lib/refusal.ts'
import { LimitsBody, maxRecipients, readLimits, sentenceOf } from './keep.ts'

function faultsOf(fields: Record<string, unknown>) {
  try {
    readLimits(fields)
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    expect(error.code).toBe('invalid_body')
    return error.details.faults ?? []
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
      { recipients: ['+5355564362', 'ada@example.com', `89${'1'.repeat(17)}`] },
    ],
    [
      { recipients: ['+502 5551-2345', '+44 (0)7911 123456'] },
      { recipients: ['+50255512345', '+447911123456'] },
    ],
  ])('%j is taken, in the spelling of a purchase: %j', (fields, expected) => {
    expect(readLimits(fields)).toEqual(expected)
  })

  const amounts = [25, 1e3, -1, '', ' 25', '25 ', '-1', '+1', '1e3', '.5', '5.', '1,5', '$5', '0x5']
  test.each([...amounts, '1.1234567', '1234567890', 'NaN', '٣', null, true, ['5'], {}])(
    'an amount %j is refused, with the form that it must have',
    (value) => {
      for (const parameter of ['perOrderUsdc', 'perDayUsdc']) {
        expect(faultsOf({ [parameter]: value })).toMatchObject([
          { field: parameter, code: 'malformed' },
        ])
      }
    },
  )

  test.each<[Record<string, unknown>, string, object]>([
    [
      { kinds: ['vouchers'] },
      'kinds',
      { code: 'malformed_item', position: 1, didYouMean: 'voucher' },
    ],
    [{ kinds: ['esim', 'car'] }, 'kinds', { code: 'malformed_item' }],
    [{ kinds: 'esim' }, 'kinds', { code: 'malformed' }],
    [{ kinds: [] }, 'kinds', { code: 'malformed' }],
    [{ kinds: [null] }, 'kinds', { code: 'malformed_item', position: 1 }],
    [
      { countries: ['US', 'uk'] },
      'countries',
      { code: 'malformed_item', position: 2, didYouMean: 'GB' },
    ],
    [{ countries: ['Germany'] }, 'countries', { code: 'malformed_item', didYouMean: 'DE' }],
    [{ countries: ['ZZ'] }, 'countries', { code: 'malformed_item', position: 1 }],
    [{ countries: [] }, 'countries', { code: 'malformed' }],
    [{ countries: 'US,DE' }, 'countries', { code: 'malformed' }],
    [{ countries: [7] }, 'countries', { code: 'malformed_item', position: 1 }],
    [{ countries: Array(251).fill('US') }, 'countries', { code: 'malformed' }],
    [{ recipients: ['+5355564362', 'ada'] }, 'recipients', { code: 'malformed_item', position: 2 }],
    [{ recipients: ['5355564362'] }, 'recipients', { code: 'malformed_item' }],
    [{ recipients: ['+1 201 555'] }, 'recipients', { code: 'malformed_item', position: 1 }],
    [{ recipients: [] }, 'recipients', { code: 'malformed' }],
    [{ recipients: Array(51).fill('+5355564362') }, 'recipients', { code: 'malformed' }],
    [{ perOrderUSD: '5' }, 'perOrderUSD', { code: 'unknown_limit', didYouMean: 'perOrderUsdc' }],
    [{ Kinds: ['esim'] }, 'Kinds', { code: 'unknown_limit', didYouMean: 'kinds' }],
    [{ budget: '5' }, 'budget', { code: 'unknown_limit' }],
    [{ perOrderUsdc: '$5' }, 'perOrderUsdc', { code: 'malformed', didYouMean: '5' }],
    [{ perDayUsdc: 25 }, 'perDayUsdc', { code: 'malformed', didYouMean: '25' }],
    [{ constructor: 1 }, 'constructor', { code: 'unknown_limit' }],
  ])('%j is refused, with the likely fix', (fields, field, fault) => {
    expect(faultsOf(fields)).toMatchObject([{ field, ...fault }])
  })

  test('is told all its faults at once, and no recipient is repeated to anyone', () => {
    const faults = faultsOf({ perDayUsdc: 5, kinds: [], recipients: ['Ada Lovelace'], day: 1 })
    expect(faults.map(({ field }) => field).sort()).toEqual([
      ...['day', 'kinds', 'perDayUsdc', 'recipients'],
    ])
    expect(JSON.stringify(faults)).not.toContain('Ada')
  })

  test('that is empty sets nothing, and lifts nothing by mistake', () => {
    expect(faultsOf({})).toEqual([
      { field: 'perOrderUsdc', code: 'no_limit', known: expect.arrayContaining(['kinds']) },
    ])
  })
})

test('the sentence that is signed says what is set, and for whom so far that they are recognised', () => {
  const body = readLimits({
    perOrderUsdc: '5',
    perDayUsdc: '12.5',
    kinds: ['esim', 'topup'],
    countries: ['us'],
    recipients: ['+5355564362', 'ada@example.com'],
  })
  const digest = createHash('sha256').update(canonicalJson(body)).digest('hex')
  expect(sentenceOf(body)).toBe(
    `Limit what this wallet buys here to: at most 5.00 USDC per order; at most 12.50 USDC in any 24 hours; kinds esim, topup; countries US; recipients +53***362, a***@example.com. SHA-256 of these limits: ${digest}.`,
  )
  expect(sentenceOf(readLimits({ perDayUsdc: '0' }))).toContain(
    'at most 0.00 USDC in any 24 hours.',
  )
})

const someAmount = fc.constantFrom('0', '1', '2.5')
const anyBody = fc
  .record(
    {
      perOrderUsdc: someAmount,
      perDayUsdc: someAmount,
      approveAboveUsdc: someAmount,
      kinds: fc.subarray(['esim', 'topup'], { minLength: 1 }),
      countries: fc.subarray(['US', 'DE'], { minLength: 1 }),
      // The numbers look alike to the reader, and so do the mailboxes.
      recipients: fc.subarray(
        ['+12015550123', '+12025551123', '+12035552123', 'ada@example.com', 'abe@example.com'],
        { minLength: 1 },
      ),
    },
    { requiredKeys: ['perOrderUsdc'] },
  )
  .map((fields) => readLimits(fields))

test('a signature for certain limits is one for no others, whatever the reader can see of them', () => {
  fc.assert(
    fc.property(
      anyBody,
      anyBody,
      fc.constantFrom(...LimitsBody.keyof().options),
      (one, source, name) => {
        const { [name]: _, ...others } = one
        const other: LimitsBody = { ...others, ...(source[name] && { [name]: source[name] }) }
        const isSame = canonicalJson(one) === canonicalJson(other)
        expect(sentenceOf(one) === sentenceOf(other)).toBe(isSame)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('the longest limits are still a message that can be signed and sent', () => {
  const email = (at: number) => `${at}${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`
  const recipients = Array.from({ length: maxRecipients }, (_, at) => email(at))
  expect(sentenceOf(readLimits({ recipients })).length).toBeLessThan(2_500)
})
