import {
  getCountryCallingCode,
  isSupportedCountry,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max'
import * as z from 'zod'
import { isTestOffer } from './catalog/test-offers.ts'
import type { Offer, TopupOffer, VoucherOffer } from './models.ts'
import { fieldProblem } from './required-fields.ts'

const transactionId = z.string().regex(/^[A-Za-z0-9]{1,64}$/, 'must be 1 to 64 letters and digits')
/** Zendit also takes a value of the other two sides, `ZEND` and `COST`. */
const value = z.object({
  type: z.literal('PRICE'),
  value: z.int('must be a whole number of minor units').positive(),
})
const field = z.object({ key: z.string().max(100), value: z.string().max(1000) })
const common = { offerId: z.string().min(1).max(200), transactionId }

export const inputs = {
  vouchers: z.object({
    ...common,
    fields: z.array(field).max(50).default([]),
    value: value.optional(),
  }),
  topups: z.object({
    ...common,
    recipientPhoneNumber: z.string().max(40),
    value: value.optional(),
  }),
  esim: z.object({
    ...common,
    iccid: z.string().optional(),
    value: z.undefined({ error: 'is not taken for an eSIM' }).optional(),
  }),
} as const

export type PurchaseInput =
  | ({ readonly family: 'vouchers' } & z.infer<typeof inputs.vouchers>)
  | ({ readonly family: 'topups' } & z.infer<typeof inputs.topups>)
  | ({ readonly family: 'esim' } & z.infer<typeof inputs.esim>)

type Problems = Record<string, string>
export type Value = z.infer<typeof value>

/** Zendit's test number, which every test account may top up. */
const zenditTestNumber = '+5355564362'
const mobile = new Set(['MOBILE', 'FIXED_LINE_OR_MOBILE', undefined])

/** Calling codes of several countries, which only the following digits distinguish. */
const telling = new Set<string>(['1', '7'])

function phoneProblem(offer: TopupOffer, number: string): string | undefined {
  if (!/^\+[1-9]\d{6,14}$/.test(number)) return 'must be E.164: + and 7 to 15 digits'
  if (!isSupportedCountry(offer.country)) return 'the offer is of no known country'
  const code = getCountryCallingCode(offer.country)
  if (!number.startsWith(`+${code}`)) return `must begin with +${code} for ${offer.country}`
  const phone = parsePhoneNumberFromString(number)
  if (phone !== undefined && phone.number !== number) return 'must have no trunk prefix'
  const own = telling.has(code) ? phone?.country : undefined
  if (own !== undefined && own !== offer.country) return `must be of ${offer.country}`
  if (isTestOffer(offer) || number === zenditTestNumber) return undefined
  return lineProblem(phone, offer, code)
}

function lineProblem(phone: PhoneNumber | undefined, offer: TopupOffer, code: string) {
  if (!phone?.isValid()) return 'is no number in use'
  if (phone.countryCallingCode !== code) return `must be of ${offer.country}`
  return mobile.has(phone.getType()) ? undefined : 'is no mobile number'
}

function fieldProblems(offer: VoucherOffer, fields: readonly z.infer<typeof field>[]): Problems {
  const given = new Map(fields.map((entry) => [entry.key, entry.value.trim()]))
  const missing = offer.requiredFields.filter((key) => !given.get(key))
  return {
    ...collect([...given].map(([key, value]) => [key, fieldProblem(key, value)])),
    ...Object.fromEntries(missing.map((key) => [key, 'is required'])),
  }
}

function valueProblem({ priceType, price }: Offer, given: Value | undefined) {
  if (priceType === 'FIXED') return given ? 'must be absent for a FIXED offer' : undefined
  if (!given) return 'is required for a RANGE offer'
  const { min = 1, max = 0, increment = 1 } = price
  if (given.value < min || given.value > max) return `must be from ${min} to ${max}`
  return (given.value - min) % increment === 0
    ? undefined
    : `must be ${min} plus steps of ${increment}`
}

function collect(entries: readonly (readonly [string, string | undefined])[]): Problems {
  return Object.fromEntries(
    entries.flatMap(([key, text]) => (text === undefined ? [] : [[key, text]])),
  )
}

/** The faults of a purchase of `offer`: a sentence for each field, empty if there are none. */
export function problemsOf(
  input: PurchaseInput,
  offer: Offer,
  isIssued: (iccid: string) => boolean,
): Problems {
  if (input.family === 'vouchers' && offer.productType === 'VOUCHER') {
    return {
      ...collect([['value', valueProblem(offer, input.value)]]),
      ...fieldProblems(offer, input.fields),
    }
  }
  if (input.family === 'topups' && offer.productType === 'TOPUP') {
    return collect([
      ['value', valueProblem(offer, input.value)],
      ['recipientPhoneNumber', phoneProblem(offer, input.recipientPhoneNumber)],
    ])
  }
  if (input.family === 'esim' && offer.productType === 'ESIM') {
    const isKnown = input.iccid === undefined || isIssued(input.iccid)
    return collect([['iccid', isKnown ? undefined : 'is no eSIM of this account']])
  }
  return { offerId: 'is an offer of another product' }
}
