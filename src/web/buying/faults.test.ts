import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkoutService } from '../../../test/fixtures/checkouts.ts'
import { esim, fixturePricing, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import type { Offer } from '../../catalog/offer.ts'
import { retailOf, valueFault } from '../../catalog/pricing.ts'
import { readLineItem } from '../../catalog/purchase-body.ts'
import type { Fault } from '../../lib/fault.ts'
import { invalidBody, Refusal } from '../../lib/refusal.ts'
import { textsIn } from '../texts/texts.ts'
import { faultsIn } from './faults.ts'
import { fieldTextsIn, formFieldsOf } from './form-fields.ts'
import { checkoutFormOf, readTyped, type Typed } from './typed.ts'

const t = textsIn('en')

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

/** The form of an offer as a browser sends it, with these changes. */
function typedInto(offer: Offer, changes: Readonly<Record<string, string>>): Typed {
  const fields = formFieldsOf(offer, { t, pricing }, retailOf(offer, pricing))
  const sent = new URLSearchParams({ key: 'k'.repeat(22) })
  for (const { name } of fields) sent.set(name, changes[name] ?? filled[name] ?? '')
  const typed = readTyped(sent, fields, methods)
  if (typed === undefined) throw new Error('not what this form sends')
  return typed
}

/** The faults that the page shows at the fields. */
function told(offer: Offer, changes: Readonly<Record<string, string>>) {
  const typed = typedInto(offer, changes)
  try {
    readLineItem(offer, checkoutFormOf(offer, typed).fields, {
      rangeFault: (value) => valueFault(offer, value, pricing),
    })
    return {}
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return Object.fromEntries(faultsIn(error, { typed, methods, t }))
  }
}

describe('a fault of a field is told in the words of the page', () => {
  test.each([
    ['card', 'value', '', 'Enter an amount in US dollars.'],
    ['card', 'value', '4', 'within the range above'],
    ['card', 'value', '101', 'within the range above'],
    ['card', 'value', '7.5', 'in its steps'],
    ['card', 'value', '25.123', 'at most two decimals'],
    ['card', 'value', '0', 'at most two decimals'],
    ['card', 'value', 'ten', 'Enter an amount in US dollars'],
    ['card', 'firstName', 'x'.repeat(81), 'Enter a first name of 1 to 80 characters'],
    ['card', 'lastName', 'a\u0000b', 'Enter a last name of 1 to 80 characters'],
    ['card', 'email', 'ada@', 'Enter a valid e-mail address'],
    ['card', 'country', '', 'Choose a country.'],
    ['card', 'country', 'XX', 'Choose a country from the list.'],
    ['guatemala', 'msisdn', '', 'Enter the number to top up.'],
    ['guatemala', 'msisdn', 'call me', 'Enter the number with + and the country code'],
    ['guatemala', 'msisdn', '+50255551', 'too long or too short for its country'],
    ['guatemala', 'msisdn', '+4915112345678', 'a different country than this offer'],
    ['guatemala', 'msisdn', '+50222322222', 'not a mobile number'],
    ['guatemala', 'msisdn', '+50212345678', 'tick the box below it'],
    ['jamaica', 'msisdn', '+12125550123', 'a different country than this offer'],
    ['plan', 'iccid', '12', 'An ICCID has 19 or 20 digits'],
  ] as const)('%s, %s: %j', (offer, name, text, words) => {
    const faults = told(offers[offer], { [name]: text })
    expect(Object.keys(faults)).toEqual([name])
    expect(faults[name]).toContain(words)
  })

  test('an eSIM of others is not told that its number is badly written', () => {
    const typed = typedInto(offers.plan, { iccid: `89${'1'.repeat(17)}` })
    const refusal = invalidBody([{ field: 'iccid', code: 'foreign_esim' }])
    const faults = faultsIn(refusal, { typed, methods, t })
    expect(faults.get('iccid')).toContain('We don’t know this eSIM')
  })

  test('whatever is typed, and of a field that the page does not know', () => {
    const ours = Object.values(fieldTextsIn(t)).flatMap(({ missing, wrong, faults = {} }) => [
      missing,
      wrong,
      ...Object.values(faults),
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
    const unknown: Fault = { field: 'shoeSize', code: 'unknown_field' }
    const typed = typedInto(offers.plan, {})
    const faults = faultsIn(invalidBody([unknown]), { typed, methods, t })
    expect([...faults.values()]).toEqual([t('form.otherFault')])
  })
})
