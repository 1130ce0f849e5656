import type { Allowance, DescribedOffer, Offer } from '../../catalog/offer.ts'
import type { Html } from '../frame/html.ts'
import { fact } from '../frame/parts.ts'
import { countryName, once, type Texts } from '../texts/texts.ts'
import { moneyText } from './money-text.ts'

/** The speed tier of most plans, which is not mentioned. */
const usualTier = 'Standard'

const topupTypes = ['voice', 'data', 'bundle'] as const

/** The type of a topup, if the supplier's first sub-type is one that we know. */
function topupType({ kind, subTypes }: DescribedOffer) {
  return kind === 'topup' ? topupTypes.find((type) => type === subTypes[0]) : undefined
}

/** The kind of an offer in words: "Gift card", "Mobile data", "eSIM data plan". */
export function kindName(offer: DescribedOffer, t: Texts, where: '' | 'Within' = ''): string {
  const type = topupType(offer)
  return type ? t(`offers.topupNames${where}.${type}`) : t(`offers.kindNames${where}.${offer.kind}`)
}

/** What distinguishes an offer from others of its brand: "$25", "5 GB, 30 days, Fast". Empty for some eSIM plans. */
export function measure(offer: DescribedOffer, t: Texts): string {
  const plan = planWords(offer, t)
  // The price of an eSIM plan without a stated allowance must not look like the value that its user gets.
  if (plan !== '' || offer.kind === 'esim') return plan
  return moneyText(offer.faceValue ?? offer.price, t)
}

export function whatOf(offer: DescribedOffer, t: Texts): string {
  return measure(offer, t) || kindName(offer, t)
}

/** The name of the product, for titles and search engines: "Claro 2 GB, 30 days mobile data (Guatemala)". */
export function productName(offer: Offer, t: Texts): string {
  const what = [offer.brandName, measure(offer, t), kindName(offer, t, 'Within')]
  return `${what.filter(Boolean).join(' ')} (${placeName(offer, t)})`
}

const maxNamed = 3

/** Where it can be used, in a few words: "France", "Japan + South Korea", "Austria + Belgium + Bulgaria +27". */
export function placeName(offer: DescribedOffer, t: Texts): string {
  const places = placesOf(offer, t)
  if (places.length === 0) return t('offers.placeInNotes')
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
    .map((country) => countryName(country, t))
    .sort((one, other) => one.localeCompare(other, t.language))
  return [...own.map((country) => countryName(country, t)), ...others]
}

/** Gives the id of an offer whose words, all that a list says about it, are those of another one in the list too. */
export function apart(
  offers: readonly Offer[],
  labelOf: (offer: Offer) => string,
): (offer: Offer) => string | undefined {
  const alike = Map.groupBy(offers, labelOf)
  return (offer) => ((alike.get(labelOf(offer)) ?? []).length > 1 ? offer.id : undefined)
}

export function allowanceFacts(allowance: Allowance, t: Texts): (Html | undefined)[] {
  const { voiceUnlimited, voiceMinutes, smsUnlimited, smsNumber, durationDays } = allowance
  const unlimitedOr = (isUnlimited: boolean | undefined, text: string | undefined) =>
    isUnlimited ? t('offers.unlimited') : text
  return [
    fact(t('offers.data'), unlimitedOr(allowance.dataUnlimited, dataText(allowance, t))),
    fact(t('offers.span'), counted(durationDays, 'day', t)),
    fact(t('offers.calls'), unlimitedOr(voiceUnlimited, counted(voiceMinutes, 'minute', t))),
    fact(t('offers.messages'), unlimitedOr(smsUnlimited, counted(smsNumber, 'message', t))),
  ]
}

function planWords({ kind, subTypes, allowance }: DescribedOffer, t: Texts): string {
  if (allowance === undefined) return ''
  const { voiceMinutes, voiceUnlimited, dataUnlimited, durationDays } = allowance
  const parts = [
    dataUnlimited ? t('offers.unlimitedData') : dataText(allowance, t),
    voiceUnlimited ? t('offers.unlimitedCalls') : counted(voiceMinutes, 'minute', t),
    counted(durationDays, 'day', t),
    ...(kind === 'esim' ? subTypes.filter((tier) => tier !== usualTier) : []),
  ]
  return parts.filter(Boolean).join(', ')
}

function dataText({ dataGb }: Allowance, t: Texts): string | undefined {
  if (dataGb === undefined) return undefined
  const isSmall = dataGb < 1
  const size = isSmall ? dataGb * 1000 : dataGb
  return `${sizesIn(t.language).format(size)} ${isSmall ? 'MB' : 'GB'}`
}

const sizesIn = once(
  (language: string) => new Intl.NumberFormat(language, { maximumFractionDigits: 2 }),
)

function counted(
  count: number | undefined,
  unit: 'day' | 'minute' | 'message',
  t: Texts,
): string | undefined {
  return count === undefined ? undefined : t(`offers.units.${unit}`, { count })
}
