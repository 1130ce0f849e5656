import { countryCodes, countryName } from '../../catalog/countries.ts'
import type { Allowance, Offer } from '../../catalog/offer.ts'
import type { DescribedOffer } from '../../catalog/offer-details.ts'
import type { Texts } from '../texts/en.ts'
import { moneyText } from './money-text.ts'

/** The speed of most plans, which nobody has to be told. */
const usualTier = 'Standard'

type Unit = keyof Texts['offers']['units']

/** What sort of thing an offer is: "Gift card", "Mobile data", "eSIM data plan". */
export function kindName(offer: DescribedOffer, { offers }: Texts): string {
  return offers.topupNames[topupType(offer)] ?? offers.kindNames[offer.kind]
}

/** The same inside a sentence: "gift card". */
export function kindNameWithin(offer: DescribedOffer, { offers }: Texts): string {
  return offers.topupNamesWithin[topupType(offer)] ?? offers.kindNamesWithin[offer.kind]
}

/** What tells this offer from others of its brand: "$25", "5 GB, 30 days, Fast", "any value". */
export function measure(offer: DescribedOffer, texts: Texts): string {
  const plan = planWords(offer, texts)
  if (plan !== '') return plan
  const value = moneyText(offer.faceValue ?? offer.price, texts)
  // A plan that says nothing of what it gives is not worth its price to the one who uses it.
  return offer.kind === 'esim' ? '' : value
}

/** Countries that are named before the others are only counted. */
const maxNamed = 3

/** Where it can be used, in a few words: "France", "Japan + South Korea", "Austria + Belgium + Bulgaria +27". */
export function placeName(offer: DescribedOffer, texts: Texts): string {
  const places = placesOf(offer, texts)
  const more = places.length - maxNamed
  const named = places.slice(0, maxNamed).join(' + ')
  return more > 0 ? `${named} +${more}` : named
}

/** Every country that it can be used in by its name, its own first. */
export function placesOf(offer: DescribedOffer, { offers }: Texts): string[] {
  const own = offer.country === undefined ? [] : [offer.country]
  const placeOf = orderIn(offers.numbers)
  const others = (offer.coverage ?? [])
    .map(({ country }) => country)
    .filter((country) => country !== offer.country)
    .sort((one, other) => placeOf(one) - placeOf(other))
  return [...own, ...others].map(countryName)
}

/** Where each country stands by its name. Made once for a language: a page names the countries of many plans. */
const orders = new Map<string, ReadonlyMap<string, number>>()

function orderIn(language: string): (country: string) => number {
  const order = orders.get(language) ?? orderOf(language)
  orders.set(language, order)
  return (country) => order.get(country) ?? order.size
}

function orderOf(language: string): ReadonlyMap<string, number> {
  const named = countryCodes().map((code) => [code, countryName(code)] as const)
  const sorted = named.sort(([, one], [, other]) => one.localeCompare(other, language))
  return new Map(sorted.map(([code], at) => [code, at]))
}

/**
 * What tells offers of one list apart whose words are the same: the number of the offer, which the shop,
 * its mails and its orders name too.
 *
 * @param wordsOf all that the list says of an offer
 */
export function apart(
  offers: readonly Offer[],
  wordsOf: (offer: Offer) => string,
): (offer: Offer) => string | undefined {
  const firsts = new Map<string, Offer>()
  const alike = new Set<Offer>()
  for (const offer of offers) {
    const words = wordsOf(offer)
    const first = firsts.get(words)
    if (first === undefined) firsts.set(words, offer)
    else alike.add(first).add(offer)
  }
  return (offer) => (alike.has(offer) ? offer.id : undefined)
}

/** The name of the product, as search engines show it too: "Claro 2 GB, 30 days, Guatemala". */
export function productName(offer: Offer, texts: Texts): string {
  const what = [offer.brandName, measure(offer, texts), kindNameWithin(offer, texts)]
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

function planWords({ kind, subTypes, allowance }: DescribedOffer, texts: Texts): string {
  if (allowance === undefined) return ''
  const { voiceMinutes, voiceUnlimited, dataUnlimited } = allowance
  const { unlimitedData, unlimitedCalls } = texts.offers
  const parts = [
    dataUnlimited ? unlimitedData : dataText(allowance, texts),
    voiceUnlimited ? unlimitedCalls : countedOr(voiceMinutes, 'minute', texts),
    spanText(allowance, texts),
    ...(kind === 'esim' ? subTypes.filter((tier) => tier !== usualTier) : []),
  ]
  return parts.filter(Boolean).join(', ')
}

function dataText({ dataUnlimited, dataGb }: Allowance, { offers }: Texts): string | undefined {
  if (dataUnlimited) return offers.unlimited
  if (dataGb === undefined) return undefined
  const isSmall = dataGb < 1
  const size = isSmall ? dataGb * 1000 : dataGb
  return `${sizesIn(offers.numbers).format(size)} ${isSmall ? 'MB' : 'GB'}`
}

/** Making one takes longer than to read an offer, and a page has those of many. */
const sizes = new Map<string, Intl.NumberFormat>()

function sizesIn(numbers: string): Intl.NumberFormat {
  const known = sizes.get(numbers)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat(numbers, { maximumFractionDigits: 2 })
  sizes.set(numbers, made)
  return made
}

function spanText({ durationDays }: Allowance, texts: Texts): string | undefined {
  return countedOr(durationDays, 'day', texts)
}

function countedOr(count: number | undefined, unit: Unit, texts: Texts): string | undefined {
  return count === undefined ? undefined : counted(count, unit, texts)
}

/** What a topup gives, by the supplier's word; an empty text for everything else. */
function topupType(offer: DescribedOffer): string {
  const [subType = ''] = offer.kind === 'topup' ? offer.subTypes : []
  return subType
}

function fact(name: string, value: string | undefined): Fact | undefined {
  return value === undefined ? undefined : { name, value }
}
