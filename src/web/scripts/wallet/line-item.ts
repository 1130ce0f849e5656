import { fieldValue } from '../../buying/field-value.ts'

/** What a person wants to buy, as the form says it. */
export interface LineItem {
  /** The flat fields of the purchase, as they are sent. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The same for the same form. */
  readonly formKey: string
  /** The price that the page said. */
  readonly seen: string
  /** A higher price that was told since, and that is agreed to; atomic USDC. */
  readonly most?: bigint | undefined
}

/** What of the form is not said by the purchase. */
const others = /^(pay|mail|key|seen|refundTo-.*)$/

/** The form as it stands, as the purchase of a wallet. */
export function lineItemIn(form: Iterable<readonly [string, unknown]>, offerId: string): LineItem {
  const typed = [...form].map(([name, value]) => [name, String(value)] as const)
  const told = typed
    .filter(([name, text]) => !others.test(name) && text.trim() !== '')
    .map(([name, text]) => [name, fieldValue(name, text)] as const)
  const { confirmNumber, ...fields } = Object.fromEntries(told)
  // A tick is for the number that it was asked for.
  const insists = confirmNumber !== undefined && confirmNumber === fields['msisdn']
  const one = (wanted: string) => typed.find(([name]) => name === wanted)?.[1] ?? ''
  return {
    fields: { offerId, ...fields, ...(insists ? { confirmNumber: true } : {}) },
    formKey: one('key'),
    seen: one('seen'),
  }
}
