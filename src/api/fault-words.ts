import { kinds } from '../catalog/good.ts'
import type { KindDefinition } from '../catalog/kinds/kind.ts'
import { goods } from '../catalog/kinds.ts'
import type { Kind } from '../catalog/offer.ts'
import { echoOf } from '../catalog/search/params.ts'
import { webhookForm } from '../catalog/webhook-url.ts'
import type { Fault, FaultCode } from '../lib/refusal.ts'
import { maxRecipients } from '../orders/spending-limits/body.ts'

/** The sentence of each fault, which follows the name of its field; braces contain the names of its values. */
const sentences: Readonly<Record<FaultCode, string>> = {
  missing: 'is required for this offer',
  missing_offer: 'is required: the id of an offer',
  malformed: '{form}',
  malformed_item: '{form}. Item {position} is not valid',
  unknown_field: 'is not a field of this purchase',
  several:
    'cannot be chosen: a purchase is of one. To buy several, send one purchase each, with a new idempotency key each',
  fixed_price: 'is only for open-value (RANGE) offers',
  missing_value: 'is required: from {min} to {max} USD in steps of {step}',
  out_of_range: 'must be from {min} to {max} USD in steps of {step}',
  impossible_number: 'is not a possible phone number',
  other_calling_code: 'has the calling code +{found}; this offer is for {country}, +{wanted}',
  other_country: 'is a number of {found}; this offer is for {country}',
  not_mobile: 'is not a mobile number',
  unassigned_number:
    'is not in any numbering plan known here; if it is right, send confirmNumber: true',
  foreign_esim: 'is not an eSIM bought here by this wallet, and the supplier does not know it',
  unknown_limit: 'is not a limit; the limits are {known}',
  no_limit: 'or another limit is required: send one of {known}. To lift all limits, send DELETE',
  unknown_coin: 'must be one of {known}',
  bad_address: 'is not an address that a refund can be sent to',
  own_address: 'is an address of this store; give one of your own',
}

const usdcAmount =
  'must be an amount of USDC written as text, with at most 9 digits and 6 decimals, such as "25" or "12.50"'

/** The form of each field, in words. Fields of single kinds are defined with their kinds. */
const forms: Readonly<Record<string, string>> = {
  ...Object.fromEntries(kinds.flatMap(formsOf)),
  value: 'must be a number of US dollars with at most 2 decimals, such as 25 or 12.5',
  maxUsdc: 'must be a number of USDC with at most 6 decimals, such as 25 or 12.5',
  webhookUrl: webhookForm,
  perOrderUsdc: usdcAmount,
  perDayUsdc: usdcAmount,
  kinds: `must be a list of one or more of ${kinds.join(', ')}; leave it out to allow every kind`,
  countries:
    'must be a list of one or more ISO 3166-1 alpha-2 codes, such as ["US", "DE"]; leave it out to allow every country',
  recipients: `must be a list of 1 to ${maxRecipients} phone numbers in E.164 form ("+5355564362"), e-mail addresses or ICCIDs; leave it out to allow everyone`,
}

function formsOf(kind: Kind) {
  const { fields }: KindDefinition = goods[kind]
  return Object.entries(fields).map(([name, { form }]) => [name, form] as const)
}

/** A fault as the APIs publish it. */
export function publishedFault(fault: Fault) {
  const { field, didYouMean } = fault
  const parameter = echoOf(field)
  const values = { ...fault, form: forms[field] ?? 'is not valid' }
  const said = filled(sentences[fault.code], values)
  if (didYouMean === undefined) return { parameter, message: said }
  return { parameter, message: `${said}; did you mean ${didYouMean}?`, didYouMean }
}

/** The faults of a body in one text. */
export function faultsDetail(faults: readonly Fault[]): string {
  const published = faults.map(publishedFault)
  const detail = published.map(({ parameter, message }) => `${parameter} ${message}`).join('; ')
  return detail.endsWith('?') ? detail : `${detail}.`
}

function filled(sentence: string, values: Readonly<Record<string, unknown>>): string {
  return sentence.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = values[name]
    return Array.isArray(value) ? value.join(', ') : String(value)
  })
}
