import * as z from 'zod'
import { countryMeantBy, isCountry } from '../../catalog/countries.ts'
import { kinds } from '../../catalog/good.ts'
import { dollarsMeantBy, fieldMeantBy } from '../../catalog/meant.ts'
import { type Fields, invalidBody, meaning } from '../../catalog/purchase-body.ts'
import { formatUsdc, type Usdc, usdc, usdcDecimals } from '../../lib/money.ts'
import type { Fault } from '../../lib/refusal.ts'
import { readReceiver } from './recipient.ts'

/** More would not fit into the body of a request. */
const maxRecipients = 50

/**
 * An amount is text, because JSON's numbers are floats to most who read them, and because what the
 * store answers can then be sent back as it is.
 */
const amount = z.string().regex(/^\d{1,9}(\.\d{1,6})?$/)

/** What a wallet may set. A field that is left out limits nothing. */
export const LimitsBody = z.strictObject({
  perOrderUsdc: amount
    .optional()
    .describe('Most USDC for one order, as text with at most 6 decimals: "25" or "12.50"'),
  perDayUsdc: amount
    .optional()
    .describe('Most USDC within any 24 hours, as text with at most 6 decimals; "0" buys nothing'),
  kinds: z.array(z.enum(kinds)).min(1).max(kinds.length).optional().describe('Kinds of goods'),
  countries: z
    .array(
      z
        .string()
        .transform((code) => code.toUpperCase())
        .refine(isCountry),
    )
    .min(1)
    .max(250)
    .optional()
    .describe(
      'ISO 3166-1 alpha-2 codes of the offers. Plans for many countries have none, and are refused then',
    ),
  recipients: z
    .array(z.string().refine((text) => readReceiver(text) !== undefined))
    .min(1)
    .max(maxRecipients)
    .optional()
    .describe(
      'Phone numbers (E.164) of topups, e-mail addresses of vouchers, ICCIDs of recharges. What names none of them is refused then. Kept as keyed digests only',
    ),
})
export type LimitsBody = z.infer<typeof LimitsBody>

const known = Object.keys(LimitsBody.shape)

/**
 * Reads what a wallet wants to set.
 *
 * @throws Refusal `invalid_body` that lists every fault
 */
export function readLimits(fields: Fields): LimitsBody {
  const parsed = LimitsBody.safeParse(fields)
  if (!parsed.success)
    throw invalidBody(parsed.error.issues.flatMap((one) => faultsOf(one, fields)))
  if (Object.keys(parsed.data).length > 0) return parsed.data
  const message = `is needed, or another of ${known.slice(1).join(', ')}; to lift all limits, send DELETE`
  throw invalidBody([{ parameter: known[0] ?? '', message }])
}

/** What these limits say, as the wallet's owner reads it before signing. */
export function sentenceOf({ perOrderUsdc, perDayUsdc, ...lists }: LimitsBody): string {
  const { kinds, countries, recipients } = lists
  const parts = [
    perOrderUsdc && `at most ${formatUsdc(usdcOf(perOrderUsdc))} USDC per order`,
    perDayUsdc && `at most ${formatUsdc(usdcOf(perDayUsdc))} USDC in any 24 hours`,
    kinds && `kinds ${kinds.join(', ')}`,
    countries && `countries ${countries.join(', ')}`,
    recipients && (recipients.length === 1 ? '1 recipient' : `${recipients.length} recipients`),
  ]
  return `Limit what this wallet buys here to: ${parts.filter(Boolean).join('; ')}.`
}

/** Atomic USDC of a decimal text that was read. */
export function usdcOf(text: string): Usdc {
  const [whole = '', fraction = ''] = text.split('.')
  return usdc(BigInt(whole + fraction.padEnd(usdcDecimals, '0')))
}

function faultsOf(issue: z.core.$ZodIssue, fields: Fields): Fault[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map(unknownField)
  }
  const [parameter, at] = issue.path
  const name = String(parameter)
  const given = fields[name]
  const item = typeof at === 'number' && Array.isArray(given) ? { at, value: given[at] } : undefined
  // Of a list only an item can have been meant as something else.
  const meant = name.endsWith('Usdc') || item ? meantBy(name, item ? item.value : given) : undefined
  const message = `${hints[name] ?? 'is not valid'}${item ? `. Number ${item.at + 1} is none` : ''}`
  return [meaning({ parameter: name, message }, meant)]
}

function unknownField(parameter: string): Fault {
  const near = fieldMeantBy(parameter, known)
  if (near) return meaning({ parameter, message: 'is not a limit' }, near)
  return { parameter, message: `is not a limit; there are ${known.join(', ')}` }
}

const amountText =
  'must be an amount of USDC written as text, with at most 9 digits and 6 decimals, such as "25" or "12.50"'

const hints: Readonly<Record<string, string>> = {
  perOrderUsdc: amountText,
  perDayUsdc: amountText,
  kinds: `must be a list of one or more of ${kinds.join(', ')}; leave it out to allow every kind`,
  countries:
    'must be a list of one or more ISO 3166-1 alpha-2 codes, such as ["US", "DE"]; leave it out to allow every country',
  recipients: `must be a list of 1 to ${maxRecipients} phone numbers in E.164 form ("+5355564362"), e-mail addresses or ICCIDs; leave it out to allow everyone`,
}

/** What was probably meant; a recipient is not repeated, because it is personal. */
function meantBy(name: string, value: unknown): string | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  const text = String(value)
  if (name === 'kinds') return fieldMeantBy(text, kinds)
  if (name === 'countries') return countryMeantBy(text)
  return name.endsWith('Usdc') ? dollarsMeantBy(text)?.toString() : undefined
}
