import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkoutService } from '../../../test/fixtures/checkouts.ts'
import { esim, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import type { Offer } from '../../catalog/offer.ts'
import { retailOf, valueFault } from '../../catalog/pricing.ts'
import { foreignIccid, invalidBody, readLineItem } from '../../catalog/purchase-body.ts'
import { type Fault, Refusal } from '../../lib/refusal.ts'
import { en } from '../texts/en.ts'
import { faultsIn } from './faults.ts'
import { formFieldsOf } from './form-fields.ts'
import { checkoutFormOf, readTyped, type Typed } from './typed.ts'

const pricing = fixturePricing()
const { methods } = checkoutService().checkouts

const offers = {
  card: voucher('OPEN', {
    price: open(500, 10_000),
    requiredFields: ['recipient.firstName', 'recipient.email', 'recipient.country'],
  }),
  guatemala: topup('CLARO', { country: 'GT' }),
  jamaica: topup('DIGICEL', { country: 'JM' }),
  plan: esim('PLAN'),
} satisfies Record<string, Offer>

const filled: Readonly<Record<string, string>> = {
  value: '25',
  firstName: 'Ada',
  lastName: 'Lovelace',
  email: 'ada@example.com',
  country: 'DE',
}

/** The form of an offer as a browser sends it, with this in one of its fields. */
function typedInto(offer: Offer, changes: Readonly<Record<string, string>>): Typed {
  const fields = formFieldsOf(offer, { texts: en, pricing }, retailOf(offer, pricing))
  const sent = new URLSearchParams({ key: 'k'.repeat(22) })
  for (const { name } of fields) sent.set(name, changes[name] ?? filled[name] ?? '')
  const typed = readTyped(sent, fields, methods)
  if (typed === undefined) throw new Error('not what this form sends')
  return typed
}

/** What the page says beside the fields. */
function told(offer: Offer, changes: Readonly<Record<string, string>>) {
  const typed = typedInto(offer, changes)
  try {
    readLineItem(offer, checkoutFormOf(offer, typed).fields, (value) =>
      valueFault(offer, value, pricing),
    )
    return {}
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return Object.fromEntries(faultsIn(error, { typed, methods, texts: en }))
  }
}

describe('a fault of a field is told in the words of the page', () => {
  test.each([
    ['card', 'value', '', 'Enter the amount that you want, in US dollars.'],
    ['card', 'value', '4', 'within the limits above'],
    ['card', 'value', '101', 'within the limits above'],
    ['card', 'value', '7.5', 'in their steps'],
    ['card', 'value', '25.123', 'at most two decimals'],
    ['card', 'value', '0', 'at most two decimals'],
    ['card', 'value', 'ten', 'Enter a number of US dollars'],
    ['card', 'firstName', 'x'.repeat(81), 'A first name has 1 to 80 letters'],
    ['card', 'lastName', 'a\u0000b', 'A last name has 1 to 80 letters'],
    ['card', 'email', 'ada@', 'This is not an e-mail address.'],
    ['card', 'country', '', 'Choose a country.'],
    ['card', 'country', 'XX', 'Choose a country from the list.'],
    ['guatemala', 'msisdn', '', 'Enter the number to top up.'],
    ['guatemala', 'msisdn', 'call me', 'Enter the number with + and the country code'],
    ['guatemala', 'msisdn', '+50255551', 'too long or too short for its country'],
    ['guatemala', 'msisdn', '+4915112345678', 'of another country than this offer'],
    ['guatemala', 'msisdn', '+50222322222', 'not the number of a mobile phone'],
    ['guatemala', 'msisdn', '+50212345678', 'tick the box below it'],
    ['jamaica', 'msisdn', '+12125550123', 'of another country than this offer'],
    ['plan', 'iccid', '12', 'An eSIM has 19 or 20 digits'],
  ] as const)('%s, %s: %j', (offer, name, text, words) => {
    const faults = told(offers[offer], { [name]: text })
    expect(Object.keys(faults)).toEqual([name])
    expect(faults[name]).toContain(words)
  })

  test('an eSIM of others is not told that its number is badly written', () => {
    const typed = typedInto(offers.plan, { iccid: `89${'1'.repeat(17)}` })
    const refusal = invalidBody([{ parameter: 'iccid', message: foreignIccid }])
    const faults = faultsIn(refusal, { typed, methods, texts: en })
    expect(faults.get('iccid')).toContain('We don’t know this eSIM')
  })

  test('whatever is typed, and of a field that the page does not know', () => {
    const ours = Object.values(en.form.fields).flatMap(({ missing, wrong, instead = [] }) => [
      missing,
      wrong,
      ...instead.map(([, text]) => text),
    ])
    const text = fc.oneof(
      fc.string({ maxLength: 90 }),
      fc.stringMatching(/^\+?[0-9]{1,16}(\.[0-9]{1,3})?$/),
    )
    fc.assert(
      fc.property(fc.constantFrom(...Object.values(offers)), text, (offer, typed) => {
        const names = ['value', 'firstName', 'lastName', 'email', 'country', 'msisdn', 'iccid']
        const faults = told(offer, Object.fromEntries(names.map((name) => [name, typed])))
        for (const said of Object.values(faults)) {
          expect(ours.some((sentence) => said.startsWith(sentence))).toBe(true)
        }
      }),
      { numRuns: 500 },
    )
    const unknown: Fault = { parameter: 'shoeSize', message: 'is not a field of this purchase' }
    const typed = typedInto(offers.plan, {})
    const faults = faultsIn(invalidBody([unknown]), { typed, methods, texts: en })
    expect([...faults.values()]).toEqual([en.form.otherFault])
  })
})
