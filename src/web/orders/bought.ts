import type { Bought } from '../../api/bought.ts'
import type { DescribedOffer } from '../../catalog/offer-details.ts'
import { speltNumber } from '../../catalog/phone.ts'
import { type Html, html } from '../frame/html.ts'
import { fact } from '../frame/parts.ts'
import { faceText, moneyText } from '../shop/money-text.ts'
import { kindNameWithin, measure, placeName, placesOf } from '../shop/offer-words.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'

/** Of more countries than this, only the first are named and the others counted. */
const placesShown = 12

/** One fact about a purchase. */
type Fact = readonly [name: string, value: string]

/** What is bought: "Steam gift card, about €21.50", "Travel eSIM data plan, 5 GB, 30 days". */
export function itemText({ brandName, kind, offer, receives, value }: Bought, t: Texts): string {
  const name = offer ? kindNameWithin(offer, t) : t(`offers.kindNamesWithin.${kind}`)
  const isPlan = offer !== undefined && offer.kind !== 'voucher' && value === undefined
  const amount = receives && faceText(receives, t)
  const what = isPlan ? measure(offer, t) : amount
  return [t('bought.item', { brand: brandName, kind: name }), what].filter(Boolean).join(', ')
}

/** Where it works, for which phone number, what it receives and other facts. */
function boughtLines(bought: Bought, t: Texts): readonly Fact[] {
  const { offer, country, phone, receives } = bought
  const face = receives && faceText(receives, t)
  const lines: (readonly [name: string, value: string | undefined])[] = [
    [
      bought.kind === 'esim' ? t('bought.worksIn') : t('bought.country'),
      offer ? placesText(offer, t) : country && countryName(country, t),
    ],
    [t('bought.phone'), phone && speltNumber(phone)],
    [t('bought.receives'), face !== undefined && itemText(bought, t).includes(face) ? '' : face],
    [t('bought.chosen'), chosenText(bought, t)],
    [t('bought.fairUse'), bought.fairUse],
  ]
  return lines.flatMap(([name, value]) => (value ? [[name, value] as const] : []))
}

/** The same in one line: "Steam gift card, about €21.50, Austria". */
export function boughtText(bought: Bought, t: Texts): string {
  const { offer, country, phone } = bought
  const place = offer ? placeName(offer, t) : country && countryName(country, t)
  const number = phone && speltNumber(phone)
  return [itemText(bought, t), place, number].filter(Boolean).join(', ')
}

/** These facts as lines of a list. */
export function boughtFacts(bought: Bought, t: Texts): (Html | undefined)[] {
  return boughtLines(bought, t).map(([name, value]) => fact(name, html`${value}`))
}

function placesText(offer: DescribedOffer, t: Texts): string {
  const places = placesOf(offer, t)
  return places.length > placesShown ? placeName(offer, t) : places.join(', ')
}

/** The value that the buyer chose, if it differs from what the card receives. */
function chosenText({ offer, value, receives }: Bought, t: Texts): string | undefined {
  if (offer === undefined || value === undefined || receives === undefined) return undefined
  const { currency, divisor } = offer.price
  const chosen = moneyText({ type: 'FIXED', currency, divisor, fixed: value }, t)
  return faceText({ ...receives, isExact: true }, t) === chosen ? undefined : chosen
}
