import { type FaceValue, faceValueFor } from '../../catalog/face-value.ts'
import { kindOf } from '../../catalog/good.ts'
import type { Offer } from '../../catalog/offer.ts'
import { worthOf } from '../../catalog/offer-details.ts'
import type { LineItem } from '../../catalog/purchase-body.ts'
import { formatUsdc, type Usdc } from '../../lib/money.ts'

/**
 * What is bought and for how much, in words, so that a model that mistook a unit, or a person who approves, notices:
 * "value 25 = a 25.00 USD Amazon card (US) for 25.00 USDC".
 */
export function purchaseSentence(offer: Offer, lineItem: LineItem, amount: Usdc): string {
  const { value, recipient } = lineItem
  const chosen = value === undefined ? '' : `value ${value / 100} = `
  const good = kindOf(offer).inWords(wordsOf(offer, value), recipient)
  return `${chosen}${good} for ${formatUsdc(amount)} USDC`
}

function wordsOf(offer: Offer, value: LineItem['value']) {
  const { brandName, country, shortNotes } = offer
  const face = faceValueFor(worthOf(offer), value)
  return {
    face: face?.isExact ? `${amountOf(face)} ` : '',
    worth: face === undefined || face.isExact ? '' : ` worth about ${amountOf(face)}`,
    brandName,
    place: country === undefined ? '' : ` (${country})`,
    notes: shortNotes === undefined ? '' : `, ${shortNotes.replace(/\.$/, '')},`,
  }
}

function amountOf({ amount, divisor, currency }: FaceValue): string {
  const decimals = Math.round(Math.log10(divisor))
  return `${(amount / divisor).toFixed(decimals)} ${currency}`
}
