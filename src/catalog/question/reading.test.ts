import { expect, test } from 'vitest'
import { catalogOf } from '../../../test/fixtures/catalog.ts'
import { fixturePricing, topup, voucher } from '../../../test/fixtures/offers.ts'
import { readPhonePlace } from './phone-place.ts'
import { type Part, readQuestion } from './reading.ts'

/** As many brands as a store with 12,000 offers has, and all that the texts below come near to. */
const names = Array.from({ length: 2_000 }, (_, at) => `Brand ${(at * 7919).toString(36)} Cards`)
const known = ['Netflix', 'Amazon', 'Spotify', 'Steam', 'Roblox', 'Minecraft', 'PlayStation Store']
const { sold } = catalogOf(
  [
    ...[...names, ...known].map((brandName) =>
      voucher(brandName, { brand: brandName.toUpperCase(), brandName }),
    ),
    ...['MTN', 'Airtel'].map((brandName) =>
      topup(brandName, { brand: brandName, brandName, country: 'NG' }),
    ),
  ],
  fixturePricing(),
)

/** The parts in short: "not country Germany". */
function partsOf(text: string): string[] {
  return readQuestion(text, sold).parts.map(inShort)
}

function inShort({ type, text, isExcluded, ...said }: Part): string {
  const bounds = ['least', 'most', 'exact'].flatMap((name) => {
    const bound = (said as Record<string, unknown>)[name]
    return bound === undefined ? [] : [`${name} ${bound}`]
  })
  return [...(isExcluded ? ['not'] : []), type, ...(bounds.length > 0 ? bounds : [text])].join(' ')
}

test.each([
  ['not above 30 dollars', 'money most 30'],
  ['30 usd or less', 'money most 30'],
  ['< $30', 'money most 30'],
  ['not above 30', 'money most 30'],
  ['not under 30 usd', 'money least 30'],
  ['between 10 and 30 dollars', 'money least 10 most 30'],
  ['$10 - $30', 'money least 10 most 30'],
  ['US$ 30.50', 'money exact 30.5'],
  ['30.000 rupiah', 'money exact 30000'],
  ['500 MB', 'data least 0.48828125'],
  ['no more than 10 days', 'days most 10'],
  ['7-10 days', 'days least 10'],
  ['from December 28 to January 4', 'days least 8'],
  ['10.-20. Juni', 'days least 11'],
])('"%s" is an amount: %s', (text, part) => {
  expect(partsOf(text)).toEqual([part])
})

test.each([
  ['Japan, not Germany', ['country Japan', 'not country not Germany']],
  ['except Germany, Austria and Switzerland', ['Germany', 'Austria', 'Switzerland']],
  ['netflix but not for germany but for japan', ['brand netflix', 'germany', 'country japan']],
  ['no steam, netflix', ['steam', 'netflix']],
])('"%s" excludes what stands behind "not", and the rest of a list', (text, expected) => {
  const parts = partsOf(text)
  expect(parts).toHaveLength(expected.length)
  for (const [at, part] of parts.entries()) expect(part).toContain(expected[at])
  const { parts: read } = readQuestion(text, sold)
  expect(read.some(({ isExcluded }) => isExcluded)).toBe(true)
})

test('every part says where it is, so that the question can be asked without it', () => {
  const { text, parts } = readQuestion('  Netflix for\tGermany, not above 30 USDC please ', sold)
  expect(parts.map(({ from, to }) => text.slice(from, to))).toEqual([
    'Netflix',
    'Germany',
    'not above 30 USDC',
  ])
})

test.each([
  ['recharge my esim 8944500102198304826', 'iccid ICCID'],
  ['ICCID: 8944 5001 0219 8304 826', 'iccid ICCID'],
  ['top up +234 803 123 4567', 'phone phone number'],
  ['airtime for 0803 123 4567 nigeria', 'phone phone number'],
  ['airtime for 0803 123 4567', 'context phone number'],
])('the number in "%s" is understood and not repeated', (text, part) => {
  expect(partsOf(text)).toContain(part)
  expect(JSON.stringify(readQuestion(text, sold).parts)).not.toMatch(/\d{4}/)
})

test.each([
  ['+2348031234567', 'NG', 'MTN'],
  ['2348021234567', 'NG', 'Airtel'],
  ['+49 151 23456789 20', 'DE', 'T-Mobile'],
  ['005355564362', 'CU', 'Cubacel'],
  ['+1 212 555 0123', 'US', undefined],
  ['+99 1234567', undefined, undefined],
])('the number %s is of %s, and was assigned to %s', (text, country, operator) => {
  expect(readPhonePlace(text, undefined)).toMatchObject({ country, operator })
})

test.each([
  ['a square of six letters', '\u3316'.repeat(33)],
  ['Thai', 'กขคงจฉชซฌญฎฏฐฑฒณดตถทธนบปผฝพฟภมยรลวศษสห'.repeat(5).slice(0, 200)],
  ['kanji', '漢字仮名交文日本語国中美韓台湾香港'.repeat(12).slice(0, 200)],
  ['hangul', '가나다라마바사아자차카타파하'.repeat(15).slice(0, 200)],
  ['misspelled names', 'netfilx amazom spotfy plastation stema robolx minecarft '.repeat(3)],
  ['negations', 'not except without no never avoid '.repeat(6)],
  ['numbers', '1 to 2 and 3 - 4 to 5 '.repeat(9)],
  ['digits', '8'.repeat(200)],
  ['dots', '1.2,3.4,5.6,7.8,9.'.repeat(11)],
  ['parentheses', '+1(2)3(4)5(6)7(8)9('.repeat(10)],
])('%s take less than 20 ms of the thread', (_, text) => {
  readQuestion('netflix', sold)
  const before = process.threadCpuUsage()
  readQuestion(text, sold)
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1000).toBeLessThan(20)
})
