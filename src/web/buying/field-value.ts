import { type FaceValue, faceValueFor, type Worth } from '../../catalog/face-value.ts'
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
