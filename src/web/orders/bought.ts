import type { Bought } from '../../api/bought.ts'
import { countryName } from '../../catalog/countries.ts'
import type { DescribedOffer } from '../../catalog/offer-details.ts'
import { speltNumber } from '../../catalog/spelt-number.ts'
import { type Html, html } from '../frame/html.ts'
import { faceText, moneyText } from '../shop/money-text.ts'
import { kindNameWithin, measure, placeName, placesOf } from '../shop/offer-words.ts'
import type { Texts } from '../texts/en.ts'
import { fact } from './parts.ts'

/** More countries than these are counted behind the first ones. */
const placesShown = 12

/** One thing that is said of a purchase: what it is called, and what it is. */
type Fact = readonly [name: string, value: string]

/** What is bought: "Steam gift card, about €21.50", "Travel eSIM data plan, 5 GB, 30 days". */
export function itemText(
  { brandName, kind, offer, receives, value }: Bought,
  texts: Texts,
): string {
  const name = offer ? kindNameWithin(offer, texts) : texts.offers.kindNamesWithin[kind]
  const isPlan = offer !== undefined && offer.kind !== 'voucher' && value === undefined
  const amount = receives && faceText(receives, texts)
  const what = isPlan ? measure(offer, texts) : amount
  return [`${brandName} ${name}`, what].filter(Boolean).join(', ')
}

/** Where it works, for which number and for how much of the card's own currency. */
function boughtLines(bought: Bought, texts: Texts): readonly Fact[] {
  const { offer, country, phone, receives } = bought
  const { bought: words } = texts
  const face = receives && faceText(receives, texts)
  const lines: (readonly [name: string, value: string | undefined])[] = [
    [
      bought.kind === 'esim' ? words.worksIn : words.country,
      offer ? placesText(offer, texts) : country && countryName(country),
    ],
    [words.phone, phone && speltNumber(phone)],
    [words.receives, face !== undefined && itemText(bought, texts).includes(face) ? '' : face],
    [words.chosen, chosenText(bought, texts)],
    [words.fairUse, bought.fairUse],
  ]
  return lines.flatMap(([name, value]) => (value ? [[name, value] as const] : []))
}

/** The same in one line: "Steam gift card, about €21.50, Austria". */
export function boughtText(bought: Bought, texts: Texts): string {
  const { offer, country, phone } = bought
  const place = offer ? placeName(offer, texts) : country && countryName(country)
  const number = phone && speltNumber(phone)
  return [itemText(bought, texts), place, number].filter(Boolean).join(', ')
}

/** The lines as facts of a list. */
export function boughtFacts(bought: Bought, texts: Texts): (Html | undefined)[] {
  return boughtLines(bought, texts).map(([name, value]) => fact(name, html`${value}`))
}

function placesText(offer: DescribedOffer, texts: Texts): string {
  const places = placesOf(offer, texts)
  return places.length > placesShown ? placeName(offer, texts) : places.join(', ')
}

/** What was chosen, where it is not what the card receives. */
function chosenText({ offer, value, receives }: Bought, texts: Texts): string | undefined {
  if (offer === undefined || value === undefined || receives === undefined) return undefined
  const { currency, divisor } = offer.price
  const chosen = moneyText({ type: 'FIXED', currency, divisor, fixed: value }, texts)
  return faceText({ ...receives, isExact: true }, texts) === chosen ? undefined : chosen
}
