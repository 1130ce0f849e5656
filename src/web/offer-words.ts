import { countryName } from '../goods/countries.ts'
import type { Allowance, Kind, Offer } from '../goods/offer.ts'
import { moneyText } from './money-text.ts'

const kindNames: Readonly<Record<Kind, string>> = {
  voucher: 'Gift voucher',
  topup: 'Mobile topup',
  esim: 'eSIM data plan',
}

const topupNames: Readonly<Record<string, string>> = {
  voice: 'Airtime',
  data: 'Mobile data',
  bundle: 'Mobile bundle',
}

const units = {
  day: ['day', 'days'],
  country: ['country', 'countries'],
  minute: ['minute', 'minutes'],
  message: ['message', 'messages'],
} as const

/** What sort of thing an offer is: "Gift voucher", "Mobile data", "eSIM data plan". */
export function kindName(offer: Offer): string {
  const [subType = ''] = offer.kind === 'topup' ? offer.subTypes : []
  return topupNames[subType] ?? kindNames[offer.kind]
}

/** What tells this offer from others of its brand: "$25", "5 GB, 30 days", "any value". */
export function measure(offer: Offer): string {
  const plan = offer.kind === 'voucher' ? '' : planWords(offer.allowance)
  if (plan !== '') return plan
  const value = moneyText(offer.faceValue ?? offer.price)
  // A plan that says nothing of what it gives is not worth its price to the one who uses it.
  return offer.kind === 'esim' ? '' : value
}

/** Where it can be used, in a few words: "France", "42 countries". */
export function placeName(offer: Offer): string {
  if (offer.country !== undefined) return countryName(offer.country)
  return offer.kind === 'esim' ? counted(offer.coverage.length, 'country') : ''
}

/** The name of the product, as search engines show it too: "Claro 2 GB, 30 days, Guatemala". */
export function productName(offer: Offer): string {
  const what = [offer.brandName, measure(offer), kindName(offer).replace(/^[GM]/, lower)]
  return `${what.filter(Boolean).join(' ')} (${placeName(offer)})`
}

export interface Fact {
  readonly name: string
  readonly value: string
}

/** What a line gets, one fact for each thing. */
export function allowanceFacts(allowance: Allowance): Fact[] {
  return [
    fact('Data', dataText(allowance)),
    fact('Valid for', spanText(allowance)),
    fact('Calls', orUnlimited(allowance.voiceUnlimited, allowance.voiceMinutes, 'minute')),
    fact('Text messages', orUnlimited(allowance.smsUnlimited, allowance.smsNumber, 'message')),
  ].filter((known) => known !== undefined)
}

/** "1 day", "30 days", "1,000 minutes". */
export function counted(count: number, unit: keyof typeof units): string {
  const [one, many] = units[unit]
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}

function planWords(allowance: Allowance): string {
  const { voiceMinutes, voiceUnlimited } = allowance
  const calls = orUnlimited(voiceUnlimited, voiceMinutes, 'minute')
  const data = dataText(allowance)
  const parts = [
    data && (allowance.dataUnlimited ? 'unlimited data' : data),
    voiceUnlimited ? 'unlimited calls' : calls,
    spanText(allowance),
  ]
  return parts.filter(Boolean).join(', ')
}

function dataText({ dataUnlimited, dataGb }: Allowance): string | undefined {
  if (dataUnlimited) return 'Unlimited'
  if (dataGb === undefined) return undefined
  const isSmall = dataGb < 1
  const size = (isSmall ? dataGb * 1000 : dataGb).toLocaleString('en', { maximumFractionDigits: 2 })
  return `${size} ${isSmall ? 'MB' : 'GB'}`
}

function spanText({ durationDays }: Allowance): string | undefined {
  return durationDays === undefined ? undefined : counted(durationDays, 'day')
}

function orUnlimited(
  isUnlimited: boolean | undefined,
  count: number | undefined,
  unit: keyof typeof units,
): string | undefined {
  if (isUnlimited) return 'Unlimited'
  return count === undefined ? undefined : counted(count, unit)
}

function fact(name: string, value: string | undefined): Fact | undefined {
  return value === undefined ? undefined : { name, value }
}

function lower(letter: string): string {
  return letter.toLowerCase()
}
