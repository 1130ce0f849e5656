import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callerFor, expectProblem, rowsOf } from './reading.ts'
import { bodyFor, type Kind, purchasePath } from './requests.ts'
import { useStore } from './store.ts'

const store = useStore({ offers: 400 })
const call = callerFor(store)
let before: Record<string, number>
/** A voucher that asks for the recipient's e-mail and country too. */
let asksMore: string

beforeAll(async () => {
  before = await rowsOf(store)
  const { body } = await call('/api/catalog/vouchers/offers?limit=100')
  const offers = body.items as { offerId: string; requiredFields: string[]; priceType: string }[]
  asksMore =
    offers.find(
      ({ requiredFields, priceType }) =>
        priceType === 'FIXED' && requiredFields.join() === 'firstName,lastName,email,country',
    )?.offerId ?? ''
  expect(asksMore).not.toBe('')
})
afterAll(async () => {
  expect(await rowsOf(store)).toEqual(before)
})

const kinds: readonly Kind[] = ['voucher', 'topup', 'esim']
const json = { 'content-type': 'application/json' }

const send = (kind: Kind, body: string) =>
  call(purchasePath(kind), { method: 'POST', body, headers: json })

/** Sends a body and expects 422 that lists every one of these fields. */
async function expectFaults(kind: Kind, body: object, ...fields: string[]): Promise<void> {
  const about = JSON.stringify(body)
  const answer = await send(kind, about)
  expectProblem(answer, { status: 422, code: 'invalid_body', charges: true })
  const named = answer.body.errors.map(({ parameter }: { parameter: string }) => parameter)
  expect([...new Set(named)].sort(), about).toEqual([...fields].sort())
  for (const { message } of answer.body.errors) expect(message).toMatch(/^\w.{4,}/)
  if (fields.length === 1) expect(answer.body.parameter).toBe(fields[0])
}

/** What no text field takes. */
const noText: readonly unknown[] = [
  '',
  ' ',
  '\n',
  'a\u0000b',
  'a\nb',
  '\u001b[31m',
  '\u200b',
  'x'.repeat(300),
  '\ud800',
  null,
  0,
  7,
  true,
  false,
  [],
  ['Ada'],
  {},
  { $ne: '' },
]

/** How an optional field is left out. */
const isLeftOut = (value: unknown) =>
  value === null || (typeof value === 'string' && value.trim() === '')

const voucher = bodyFor('voucher', 'OK')
const open = { ...voucher, offerId: 'TEST-VOUCHER-OPEN', value: 0.5 }

/** Every field of every purchase body, in a body that is otherwise good. */
const fields: readonly (readonly [
  Kind,
  string,
  () => Record<string, unknown>,
  readonly unknown[],
])[] = [
  ['voucher', 'firstName', () => voucher, noText],
  ['voucher', 'lastName', () => voucher, noText],
  [
    'voucher',
    'email',
    () => ({ ...voucher, offerId: asksMore, email: 'ada@example.com', country: 'FR' }),
    [...noText, 'ada', 'ada@', '@example.com', 'a b@example.com', `${'a'.repeat(250)}@example.com`],
  ],
  [
    'voucher',
    'country',
    () => ({ ...voucher, offerId: asksMore, email: 'ada@example.com', country: 'FR' }),
    [...noText, 'XX', 'USA', 'U', 'U1', '12'],
  ],
  [
    'voucher',
    'value',
    () => open,
    [
      ...['', 'ten', null, true, [0.5], {}, 0, -0.5, 0.05, 1, 0.95001, 0.123, 1e21],
      ...[1e-7, 0.12, 99_999_999, 1e300, Number.MAX_SAFE_INTEGER],
    ],
  ],
  [
    'topup',
    'msisdn',
    () => bodyFor('topup', 'OK'),
    [
      ...[...noText, 12025550123, '12025550123', '0012025550123', '+1/202/555/0123', '+', '++1'],
      ...['+1202555012', '+120255501234567', '+18095551234', 'tel:+12025550123', '+0123456789'],
      ...[
        '+442071838750',
        '+50255551234',
        '+1202555o123',
        '+１２０２５５５０１２３',
        '+12025550123;ext=1',
      ],
    ],
  ],
  [
    'esim',
    'iccid',
    () => ({ ...bodyFor('esim', 'OK'), iccid: '8901410321111851072' }),
    [
      ...[
        ...noText.filter((value) => !isLeftOut(value)),
        8901410321111851,
        '890141032111185107',
        '890141032111185107200',
      ],
      ...['7901410321111851072', '89014103211118510F2', '89-0141032111185107'],
    ],
  ],
]

describe.each(fields)('%s: %s', (kind, field, good, bad) => {
  test('takes nothing that it is not', async () => {
    expect((await send(kind, JSON.stringify(good()))).status).toBe(402)
    for (const value of bad) await expectFaults(kind, { ...good(), [field]: value }, field)
  })

  test('is refused the same way in a quote, and known by no other name', async () => {
    const path = purchasePath(kind)
    const texts = bad.filter((value) => typeof value === 'string')
    // A lone surrogate has no form in a query, and a plus sign may come as a space there.
    const inQuery = texts.filter((value) => value !== '\ud800' && !/^\s*\+?$/.test(String(value)))
    for (const value of inQuery) {
      const query = Object.entries({ ...good(), [field]: value })
        .map(([name, text]) => `${name}=${encodeURIComponent(String(text))}`)
        .join('&')
      const answer = await call(`${path}?${query}`)
      expectProblem(answer, { status: 422, code: 'invalid_body', charges: true, parameter: field })
    }
    for (const name of [field.toUpperCase(), `${field}s`, `${field} `]) {
      const { [field]: value, ...rest } = good()
      const answer = await send(kind, JSON.stringify({ ...rest, [name]: value }))
      expectProblem(answer, { status: 422, code: 'invalid_body', charges: true })
      const fault = answer.body.errors.find((one: { parameter: string }) => one.parameter === name)
      expect(fault.message).toContain(`did you mean ${field}?`)
    }
  })
})

describe('what is missing, too much, or wrong together', () => {
  test('every fault is listed at once', async () => {
    await expectFaults('voucher', { offerId: 'TEST-VOUCHER-OK' }, 'firstName', 'lastName')
    await expectFaults('voucher', { firstName: 'Ada' }, 'offerId', 'lastName')
    await expectFaults('voucher', { x: 1 }, 'offerId', 'firstName', 'lastName', 'x')
    await expectFaults('voucher', { ...voucher, offerId: asksMore }, 'email', 'country')
    const bad = { firstName: '', lastName: 7, email: 'nobody' }
    await expectFaults('voucher', { ...voucher, ...bad }, 'firstName', 'lastName', 'email')
    await expectFaults('voucher', { ...voucher, offerId: 'TEST-VOUCHER-OPEN' }, 'value')
    await expectFaults('topup', { offerId: 'TEST-TOPUP-OK' }, 'msisdn')
    await expectFaults(
      'topup',
      { ...bodyFor('topup', 'OK'), firstName: 'A', y: 2 },
      'firstName',
      'y',
    )
    await expectFaults('esim', { iccid: 'x' }, 'offerId', 'iccid')
    await expectFaults('esim', { ...bodyFor('esim', 'OK'), email: 'a@example.com' }, 'email')
  })

  test('a value on a fixed price is refused', async () => {
    for (const kind of kinds) {
      for (const value of [0.5, 5, '5']) {
        await expectFaults(kind, { ...bodyFor(kind, 'OK'), value }, 'value')
      }
    }
  })

  test.each(kinds)('an offer that is none, or no %s, is not found', async (kind) => {
    const other = kind === 'esim' ? 'TEST-TOPUP-OK' : 'TEST-ESIM-OK'
    const ids = ['NONE', 'TEST_VOUCHER_OK', '__proto__', 'x'.repeat(5_000)]
    for (const offerId of [...ids, other]) {
      const answer = await send(kind, JSON.stringify({ ...bodyFor(kind, 'OK'), offerId }))
      const problem = { status: 404, code: 'offer_not_found', parameter: 'offerId', charges: true }
      expectProblem(answer, problem)
    }
    for (const offerId of ['', null, 5, true, [], ['TEST-ESIM-OK'], {}]) {
      await expectFaults(kind, { ...bodyFor(kind, 'OK'), offerId }, 'offerId')
    }
  })
})

describe('what can mean one thing only', () => {
  const plain: readonly (readonly [Kind, Record<string, unknown>, Record<string, unknown>])[] = [
    [
      'voucher',
      voucher,
      { ...voucher, offerId: ' test-voucher-ok', email: '', country: null, value: 0, msisdn: '' },
    ],
    ['voucher', open, { ...open, value: '0.5', quantity: 1 }],
    ['topup', bodyFor('topup', 'OK'), { ...bodyFor('topup', 'OK'), msisdn: '(+1)   202-555 0123' }],
    ['esim', bodyFor('esim', 'OK'), { ...bodyFor('esim', 'OK'), iccid: '', value: null }],
  ]

  test.each(plain)('is taken for a %s, and echoed as understood', async (kind, exact, written) => {
    const wanted = await send(kind, JSON.stringify(exact))
    const answer = await send(kind, JSON.stringify(written))
    expect([answer.status, answer.body.message]).toEqual([402, wanted.body.message])
    expect(answer.body.accepts[0].amount).toBe(wanted.body.accepts[0].amount)
    const query = Object.entries(written).map(
      ([name, value]) => [name, String(value ?? '')] as [string, string],
    )
    const quoted = await call(`${purchasePath(kind)}?${new URLSearchParams(query)}`)
    expect(quoted).toMatchObject({ status: 200, body: { offerId: exact['offerId'] } })
  })

  test('several at once are bought by a call each', async () => {
    for (const name of ['quantity', 'count']) {
      const answer = await send('voucher', JSON.stringify({ ...voucher, [name]: 3 }))
      expectProblem(answer, { status: 422, code: 'invalid_body', charges: true, parameter: name })
      expect(answer.body.detail).toMatch(/one purchase each, with a new idempotency key each/)
    }
  })

  test('a content type that is given twice', async () => {
    const type = (value: string) =>
      call(purchasePath('esim'), {
        method: 'POST',
        body: JSON.stringify(bodyFor('esim', 'OK')),
        headers: { 'content-type': value },
      })
    expect((await type('application/json, Application/JSON')).status).toBe(402)
    expect((await type('application/json, text/plain')).status).toBe(415)
  })
})
