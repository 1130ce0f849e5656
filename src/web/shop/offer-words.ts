import { countryName } from '../../goods/countries.ts'
import type { Allowance, Offer } from '../../goods/offer.ts'
import type { Texts } from '../texts/en.ts'
import { moneyText } from './money-text.ts'

type Unit = keyof Texts['offers']['units']

/** What sort of thing an offer is: "Gift card", "Mobile data", "eSIM data plan". */
export function kindName(offer: Offer, { offers }: Texts): string {
  return offers.topupNames[topupType(offer)] ?? offers.kindNames[offer.kind]
}

/** What tells this offer from others of its brand: "$25", "5 GB, 30 days", "any value". */
export function measure(offer: Offer, texts: Texts): string {
  const plan = offer.kind === 'voucher' ? '' : planWords(offer.allowance, texts)
  if (plan !== '') return plan
  const value = moneyText(offer.faceValue ?? offer.price, texts)
  // A plan that says nothing of what it gives is not worth its price to the one who uses it.
  return offer.kind === 'esim' ? '' : value
}

/** Where it can be used, in a few words: "France", "42 countries". */
export function placeName(offer: Offer, texts: Texts): string {
  if (offer.country !== undefined) return countryName(offer.country)
  return offer.kind === 'esim' ? counted(offer.coverage.length, 'country', texts) : ''
}

/** The name of the product, as search engines show it too: "Claro 2 GB, 30 days, Guatemala". */
export function productName(offer: Offer, texts: Texts): string {
  const { topupNamesWithin, kindNamesWithin } = texts.offers
  const kind = topupNamesWithin[topupType(offer)] ?? kindNamesWithin[offer.kind]
  const what = [offer.brandName, measure(offer, texts), kind]
  return `${what.filter(Boolean).join(' ')} (${placeName(offer, texts)})`
}

export interface Fact {
  readonly name: string
  readonly value: string
}

/** What a line gets, one fact for each thing. */
export function allowanceFacts(allowance: Allowance, texts: Texts): Fact[] {
  const { offers } = texts
  const { voiceUnlimited, voiceMinutes, smsUnlimited, smsNumber } = allowance
  return [
    fact(offers.data, dataText(allowance, texts)),
    fact(offers.span, spanText(allowance, texts)),
    fact(
      offers.calls,
      voiceUnlimited ? offers.unlimited : countedOr(voiceMinutes, 'minute', texts),
    ),
    fact(offers.messages, smsUnlimited ? offers.unlimited : countedOr(smsNumber, 'message', texts)),
  ].filter((known) => known !== undefined)
}

/** "1 day", "30 days", "1,000 minutes". */
export function counted(count: number, unit: Unit, { offers }: Texts): string {
  const [one, many] = offers.units[unit]
  return `${count.toLocaleString(offers.numbers)} ${count === 1 ? one : many}`
}

function planWords(allowance: Allowance, texts: Texts): string {
  const { voiceMinutes, voiceUnlimited, dataUnlimited } = allowance
  const { unlimitedData, unlimitedCalls } = texts.offers
  const parts = [
    dataUnlimited ? unlimitedData : dataText(allowance, texts),
    voiceUnlimited ? unlimitedCalls : countedOr(voiceMinutes, 'minute', texts),
    spanText(allowance, texts),
  ]
  return parts.filter(Boolean).join(', ')
}

function dataText({ dataUnlimited, dataGb }: Allowance, { offers }: Texts): string | undefined {
  if (dataUnlimited) return offers.unlimited
  if (dataGb === undefined) return undefined
  const isSmall = dataGb < 1
  const size = isSmall ? dataGb * 1000 : dataGb
  const amount = size.toLocaleString(offers.numbers, { maximumFractionDigits: 2 })
  return `${amount} ${isSmall ? 'MB' : 'GB'}`
}

function spanText({ durationDays }: Allowance, texts: Texts): string | undefined {
  return countedOr(durationDays, 'day', texts)
}

function countedOr(count: number | undefined, unit: Unit, texts: Texts): string | undefined {
  return count === undefined ? undefined : counted(count, unit, texts)
}

/** What a topup gives, by the supplier's word; an empty text for everything else. */
function topupType(offer: Offer): string {
  const [subType = ''] = offer.kind === 'topup' ? offer.subTypes : []
  return subType
}

function fact(name: string, value: string | undefined): Fact | undefined {
  return value === undefined ? undefined : { name, value }
}
