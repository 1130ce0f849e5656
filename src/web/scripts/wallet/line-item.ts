import { fieldValue } from '../../buying/field-value.ts'

/** What a person wants to buy, as entered in the form. */
export interface LineItem {
  /** The flat fields of the purchase, as they are sent. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The key of the form. */
  readonly formKey: string
  /** The price that the page showed, as `seenOf` writes it. */
  readonly seen: string
  /** A higher price that was shown since and that the buyer accepts; atomic USDC. */
  readonly most?: bigint | undefined
}

/** Fields of the form that are not fields of the purchase. */
const others = /^(pay|mail|key|seen|refundTo-.*)$/

/** The current content of the form, as the purchase of a wallet. */
export function lineItemIn(form: Iterable<readonly [string, unknown]>, offerId: string): LineItem {
  const typed = [...form].map(([name, value]) => [name, String(value)] as const)
  const told = typed
    .filter(([name, text]) => !others.test(name) && text.trim() !== '')
    .map(([name, text]) => [name, fieldValue(name, text)] as const)
  const { confirmNumber, ...fields } = Object.fromEntries(told)
  // The confirmation counts only for the number for which it was given.
  const insists = confirmNumber !== undefined && confirmNumber === fields['msisdn']
  const one = (wanted: string) => typed.find(([name]) => name === wanted)?.[1] ?? ''
  return {
    fields: { offerId, ...fields, ...(insists ? { confirmNumber: true } : {}) },
    formKey: one('key'),
    seen: one('seen'),
  }
}
