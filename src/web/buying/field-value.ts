import { type FaceValue, faceValueFor, type Worth } from '../../catalog/face-value.ts'
import { type OpenPrice, priceAt } from '../../catalog/open-price.ts'
import { type Cents, cents, type Usdc, usdcFromCents } from '../../lib/money.ts'
import { amountText } from '../shop/money-text.ts'

// What the server and the wallet's script both do with a form.

/** Characters by which people group digits. */
const fillers = /[\s().\u00a0-]/g

/** The value of a field in the body of the purchase: amounts are numbers, and phones and eSIMs lose separators. */
export function fieldValue(name: string, typed: string): string | number {
  const text = typed.trim()
  if (name === 'value') return /^\d{1,9}(\.\d{1,4})?$/.test(text) ? Number(text) : text
  if (name === 'msisdn' || name === 'iccid') return text.replace(fillers, '')
  return text
}

export interface Confirmed {
  /** The phone number that the buyer confirmed, as in the purchase; empty if none. */
  readonly confirmed: string
  /** The one that is to be topped up again, although it was just topped up. */
  readonly another: string
}

/** The flat fields of a purchase: empty fields are left out, and an amount is a number. */
export function purchaseFields(
  offerId: string,
  typed: Readonly<Record<string, string>>,
  { confirmed, another }: Confirmed,
) {
  const values = Object.entries(typed).map(
    ([name, text]) => [name, fieldValue(name, text)] as const,
  )
  const fields = Object.fromEntries(values.filter(([, value]) => value !== ''))
  // Each counts only for the number for which it was given.
  const isFor = (number: string) => number !== '' && number === fields['msisdn']
  return {
    offerId,
    ...fields,
    ...(isFor(confirmed) && { confirmNumber: true }),
    ...(isFor(another) && { confirmAnother: true }),
  }
}

/** The price that a form shows and sends back: that of a fixed value, or what decides that of an open one. */
export type ShownPrice = { readonly cents: Cents } | OpenPrice

/**
 * What a purchase costs by the price that its form shows; undefined if the typed amount is invalid, which the store
 * explains better.
 *
 * @throws if the price cannot be read
 */
export function shownCost(seen: string, value: unknown): Usdc | undefined {
  const shown: ShownPrice = JSON.parse(seen)
  if ('cents' in shown) return usdcFromCents(shown.cents)
  if (typeof value !== 'number' || !(value > 0)) return undefined
  return usdcFromCents(priceAt(cents(Math.round(value * 100)), shown))
}

/** Puts values into a text of a page: "Open {wallet}." */
export function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole)
}

interface ReceivesWords {
  /** "You get {money}." */
  readonly text: string
  /** "about {money}" */
  readonly about: string
  /** How numbers are written: a BCP 47 tag. */
  readonly language: string
}

/** What is received for a typed amount, in its own currency; empty if that is the amount, or none that is sold. */
export function receivesText(worth: Worth, typed: string, words: ReceivesWords): string {
  const face = faceOf(worth, typed)
  if (face === undefined) return ''
  const { amount, currency, divisor, isExact } = face
  const money = amountText(amount, currency, divisor, words.language)
  return filled(words.text, { money: isExact ? money : filled(words.about, { money }) })
}

function faceOf(worth: Worth, typed: string): FaceValue | undefined {
  const { price } = worth
  const value = fieldValue('value', typed)
  if (price.type !== 'RANGE' || typeof value !== 'number') return undefined
  const chosen = Math.round(value * price.divisor)
  if (chosen < price.min || chosen > price.max) return undefined
  const face = faceValueFor(worth, chosen)
  return face?.isExact && face.currency === price.currency ? undefined : face
}
