import type { ShopQuery } from '../../api/shop/shop-search.ts'
import type { Allowance, Offer } from '../../catalog/offer.ts'
import type { DescribedOffer } from '../../catalog/offer-details.ts'
import { countryName, placeByName } from '../texts/countries.ts'
import { once } from '../texts/once.ts'
import type { Texts } from '../texts/texts.ts'
import { moneyText } from './money-text.ts'

/** The speed tier of most plans, which is not mentioned. */
const usualTier = 'Standard'

type Unit = 'day' | 'minute' | 'message'

const topupTypes = ['voice', 'data', 'bundle'] as const

/** The kind of an offer in words: "Gift card", "Mobile data", "eSIM data plan". */
export function kindName(offer: DescribedOffer, t: Texts): string {
  const type = topupType(offer)
  return type ? t(`offers.topupNames.${type}`) : t(`offers.kindNames.${offer.kind}`)
}

export function kindNameWithin(offer: DescribedOffer, t: Texts): string {
  const type = topupType(offer)
  return type ? t(`offers.topupNamesWithin.${type}`) : t(`offers.kindNamesWithin.${offer.kind}`)
}

/** What distinguishes an offer from others of its brand: "$25", "5 GB, 30 days, Fast". Empty for some eSIM plans. */
export function measure(offer: DescribedOffer, t: Texts): string {
  const plan = planWords(offer, t)
  if (plan !== '') return plan
  const value = moneyText(offer.faceValue ?? offer.price, t)
  // The price of an eSIM plan without a stated allowance must not look like the value that its user gets.
  return offer.kind === 'esim' ? '' : value
}

const maxNamed = 3

/** Where it can be used, in a few words: "France", "Japan + South Korea", "Austria + Belgium + Bulgaria +27". */
export function placeName(offer: DescribedOffer, t: Texts): string {
  const places = placesOf(offer, t)
  const more = places.length - maxNamed
  const named = places.slice(0, maxNamed).join(' + ')
  return more > 0 ? `${named} +${more}` : named
}

/** The names of all countries in which it can be used, its own country first. */
export function placesOf(offer: DescribedOffer, t: Texts): string[] {
  const own = offer.country === undefined ? [] : [offer.country]
  const others = (offer.coverage ?? [])
    .map(({ country }) => country)
    .filter((country) => country !== offer.country)
    .sort((one, other) => placeByName(one, t) - placeByName(other, t))
  return [...own, ...others].map((country) => countryName(country, t))
}

/**
 * Distinguishes offers of one list that have the same words: returns a function that gives the id of such an offer, and
 * undefined for all others.
 *
 * @param wordsOf everything that the list says about an offer
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

/** The name of the product, for titles and search engines: "Claro 2 GB, 30 days mobile data (Guatemala)". */
export function productName(offer: Offer, t: Texts): string {
  const what = [offer.brandName, measure(offer, t), kindNameWithin(offer, t)]
  return `${what.filter(Boolean).join(' ')} (${placeName(offer, t)})`
}

export interface Fact {
  readonly name: string
  readonly value: string
}

export function allowanceFacts(allowance: Allowance, t: Texts): Fact[] {
  const { voiceUnlimited, voiceMinutes, smsUnlimited, smsNumber } = allowance
  return [
    fact(t('offers.data'), dataText(allowance, t)),
    fact(t('offers.span'), spanText(allowance, t)),
    fact(
      t('offers.calls'),
      voiceUnlimited ? t('offers.unlimited') : countedOr(voiceMinutes, 'minute', t),
    ),
    fact(
      t('offers.messages'),
      smsUnlimited ? t('offers.unlimited') : countedOr(smsNumber, 'message', t),
    ),
  ].filter((known) => known !== undefined)
}

function counted(count: number, unit: Unit, t: Texts): string {
  return t(`offers.units.${unit}`, { count })
}

function planWords({ kind, subTypes, allowance }: DescribedOffer, t: Texts): string {
  if (allowance === undefined) return ''
  const { voiceMinutes, voiceUnlimited, dataUnlimited } = allowance
  const parts = [
    dataUnlimited ? t('offers.unlimitedData') : dataText(allowance, t),
    voiceUnlimited ? t('offers.unlimitedCalls') : countedOr(voiceMinutes, 'minute', t),
    spanText(allowance, t),
    ...(kind === 'esim' ? subTypes.filter((tier) => tier !== usualTier) : []),
  ]
  return parts.filter(Boolean).join(', ')
}

function dataText({ dataUnlimited, dataGb }: Allowance, t: Texts): string | undefined {
  if (dataUnlimited) return t('offers.unlimited')
  if (dataGb === undefined) return undefined
  const isSmall = dataGb < 1
  const size = isSmall ? dataGb * 1000 : dataGb
  return `${sizesIn(t.language).format(size)} ${isSmall ? 'MB' : 'GB'}`
}

const sizesIn = once(
  (language: string) => new Intl.NumberFormat(language, { maximumFractionDigits: 2 }),
)

function spanText({ durationDays }: Allowance, t: Texts): string | undefined {
  return countedOr(durationDays, 'day', t)
}

function countedOr(count: number | undefined, unit: Unit, t: Texts): string | undefined {
  return count === undefined ? undefined : counted(count, unit, t)
}

/** The type of a topup, if the supplier's first sub-type is one that we know. */
function topupType({ kind, subTypes }: DescribedOffer) {
  return kind === 'topup' ? topupTypes.find((type) => type === subTypes[0]) : undefined
}

function fact(name: string, value: string | undefined): Fact | undefined {
  return value === undefined ? undefined : { name, value }
}

export function searchTitle({ kind = 'voucher', q, brand, country }: ShopQuery, t: Texts): string {
  const place = country === undefined ? undefined : countryName(country, t)
  const name = t(`kinds.${kind}.title`)
  const words = q ?? brand
  if (words === undefined) {
    return place === undefined ? name : t('search.title.place', { kind: name, place })
  }
  return place === undefined
    ? t('search.title.words', { words, kind: name })
    : t('search.title.both', { words, kind: name, place })
}
