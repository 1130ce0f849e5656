import { randomBytes } from 'node:crypto'
import type { Offer } from '../../catalog/offer.ts'
import { phoneMeantBy } from '../../catalog/phone.ts'
import type { Retail } from '../../catalog/pricing.ts'
import type { Fields } from '../../catalog/purchase-body.ts'
import type { PaymentMethod } from '../../checkouts/ports.ts'
import type { CheckoutForm } from '../../checkouts/start.ts'
import { fieldValue } from './field-value.ts'
import type { FormField } from './form-fields.ts'

/** The contents of the form, as they were typed. */
export interface Typed {
  /** The fields of the purchase, by name. */
  readonly fields: Readonly<Record<string, string>>
  /** The phone number that the buyer confirmed, as in the purchase; empty if none. */
  readonly confirmed: string
  /** The coin that the buyer chose; empty if none. */
  readonly pay: string
  /** The addresses for refunds, by coin. All are kept, so that changing the coin loses nothing. */
  readonly refundTo: Readonly<Record<string, string>>
  /** Where links to the order may be sent; empty if the buyer left no address. */
  readonly mail: string
  /** New for each form that the store sends. */
  readonly formKey: string
  /** The price that the person saw, as `seenOf` writes it. */
  readonly seen: string
}

const keyPattern = /^[A-Za-z0-9_-]{22}$/
/** In characters; no valid field is longer. */
const maxText = 300

/** The names of the form's own fields. */
export const names = {
  confirmed: 'confirmNumber',
  pay: 'pay',
  mail: 'mail',
  refundTo: (coin: string) => `refundTo-${coin}`,
  formKey: 'key',
  seen: 'seen',
} as const

/** An empty form. */
export function untyped(
  retail: Retail,
  markupBps: number,
  methods: readonly PaymentMethod[],
): Typed {
  const [only, ...others] = methods
  return {
    fields: {},
    confirmed: '',
    pay: only !== undefined && others.length === 0 ? only.coin : '',
    refundTo: {},
    mail: '',
    formKey: randomBytes(16).toString('base64url'),
    seen: seenOf(retail, markupBps),
  }
}

/**
 * The form as it was sent; undefined if this form cannot have sent it: it has an unknown or a repeated name, a text
 * that is too long, or no key.
 */
export function readTyped(
  sent: URLSearchParams,
  fields: readonly FormField[],
  methods: readonly PaymentMethod[],
): Typed | undefined {
  const given = Object.fromEntries(sent)
  const coins = methods.map(({ coin }) => coin)
  const known = [
    ...fields.map(({ name }) => name),
    ...coins.map(names.refundTo),
    names.confirmed,
    names.pay,
    names.mail,
    names.formKey,
    names.seen,
  ]
  const isOdd =
    [...sent.keys()].some((name, at, all) => !known.includes(name) || all.indexOf(name) !== at) ||
    [...sent.values()].some((text) => text.length > maxText)
  const formKey = given[names.formKey] ?? ''
  if (isOdd || !keyPattern.test(formKey)) return undefined
  return {
    fields: picked(
      given,
      fields.map(({ name }) => [name, name]),
    ),
    confirmed: given[names.confirmed] ?? '',
    pay: given[names.pay] ?? '',
    refundTo: picked(
      given,
      coins.map((coin) => [coin, names.refundTo(coin)]),
    ),
    mail: (given[names.mail] ?? '').trim(),
    formKey,
    seen: given[names.seen] ?? '',
  }
}

/** The form as the input of the checkout service. */
export function checkoutFormOf(offer: Offer, typed: Typed): CheckoutForm {
  const fields = purchaseFieldsOf(offer, typed)
  const { pay: coin, formKey } = typed
  return { kind: offer.kind, fields, coin, refundTo: refundOf(typed), formKey }
}

function refundOf({ pay, refundTo }: Typed): string {
  return (refundTo[pay] ?? '').trim()
}

/** The flat fields of the purchase: empty fields are left out, and an amount is a number. */
function purchaseFieldsOf(offer: Offer, typed: Typed): Fields {
  const told = Object.entries(typed.fields)
    .map(([name, text]) => [
      name,
      name === 'msisdn' ? numberIn(typed, offer) : fieldValue(name, text),
    ])
    .filter(([, value]) => value !== '')
  const insists = typed.confirmed !== '' && typed.confirmed === numberIn(typed, offer)
  return {
    offerId: offer.id,
    ...Object.fromEntries(told),
    ...(insists ? { confirmNumber: true } : {}),
  }
}

/**
 * The phone number as in the purchase. A number typed as it is dialled within the offer's country gets the calling
 * code; the next page shows it.
 */
export function numberIn({ fields }: Typed, { country }: Pick<Offer, 'country'>): string {
  const text = fields['msisdn'] ?? ''
  const isDialled = country !== undefined && !text.trim().startsWith('+')
  return String(fieldValue('msisdn', (isDialled && phoneMeantBy(text, country)) || text))
}

/**
 * The price that the form shows, as it sends it back: the cents of a fixed price, or the markup of an open value in
 * basis points. If the supplier charges more than that, the least and the greatest value follow, with their minimum
 * prices.
 */
export function seenOf(retail: Retail, markupBps: number): string {
  switch (retail.type) {
    case 'FIXED':
      return `fixed:${retail.cents}`
    case 'RANGE':
      return `open:${markupBps}${floorOf(retail)}`
    case 'NOT_SOLD':
      return ''
  }
}

/** Whether the offer costs more now than the person saw. An unreadable price counts as not seen. */
export function isDearer(seen: string, retail: Retail, markupBps: number): boolean {
  const [, type, number] = /^(fixed|open):(\d{1,12})(?::|$)/.exec(seen) ?? []
  if (retail.type === 'FIXED') return type !== 'fixed' || retail.cents > Number(number)
  if (retail.type === 'NOT_SOLD') return false
  if (retail.floor !== undefined) return seen !== seenOf(retail, markupBps)
  return type !== 'open' || markupBps > Number(number)
}

function floorOf({ min, max, floor }: Extract<Retail, { type: 'RANGE' }>): string {
  return floor === undefined ? '' : `:${min}-${max}:${floor.lowest}-${floor.highest}`
}

function picked(
  given: Readonly<Record<string, string>>,
  pairs: readonly (readonly [string, string])[],
) {
  return Object.fromEntries(pairs.map(([name, sentAs]) => [name, given[sentAs] ?? '']))
}
