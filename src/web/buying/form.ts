import { randomBytes } from 'node:crypto'
import type { Offer } from '../../catalog/offer.ts'
import { callingCodeOf, phoneMeantBy } from '../../catalog/phone.ts'
import type { Pricing, Retail } from '../../catalog/pricing.ts'
import { type Fields, requiredFieldsOf } from '../../catalog/purchase-body.ts'
import type { PaymentMethod } from '../../checkouts/ports.ts'
import type { CheckoutForm } from '../../checkouts/start.ts'
import type { Fault, FaultCode, Refusal } from '../../lib/refusal.ts'
import type { Field } from '../frame/parts.ts'
import { coinOn, priceTexts } from '../shop/money-text.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'
import { fieldFaultText, fieldValue } from './field-value.ts'

/** A field of a purchase, without a value. Its name is that in the body of the purchase. */
export type FormField = Omit<Field, 'fault' | 'value'>

/** Longer than any valid value of a field, and short enough to show again. */
const maxText = '254'

const attributesOf: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  value: { inputmode: 'decimal', autocomplete: 'off', maxlength: '20' },
  msisdn: { type: 'tel', inputmode: 'tel', autocomplete: 'tel', maxlength: '40' },
  firstName: { autocomplete: 'given-name', maxlength: maxText },
  lastName: { autocomplete: 'family-name', maxlength: maxText },
  email: { type: 'email', inputmode: 'email', autocomplete: 'email', maxlength: maxText },
  country: { autocomplete: 'country' },
  iccid: { inputmode: 'numeric', autocomplete: 'off', maxlength: '40' },
}

/** The fields that a person fills in to buy this offer, in the order of the page: the amount comes first. */
export function formFieldsOf(
  offer: Offer,
  { t, pricing }: { readonly t: Texts; readonly pricing: Pick<Pricing, 'markupBps'> },
  retail: Retail,
): FormField[] {
  const required = requiredFieldsOf(offer)
  const names = [
    ...required.filter((name) => name === 'value'),
    ...required.filter((name) => name !== 'value'),
    ...(offer.kind === 'esim' ? ['iccid'] : []),
  ]
  const texts = fieldTextsIn(t)
  return names.map((name) => ({
    name,
    label: texts[name]?.label ?? name,
    hint: hintOf(name, { offer, t, retail, markupBps: pricing.markupBps }),
    isRequired: required.includes(name),
    attributes: attributesOf[name] ?? {},
  }))
}

interface Hinting {
  readonly offer: Offer
  readonly t: Texts
  readonly retail: Retail
  readonly markupBps: number
}

function hintOf(name: string, about: Hinting): string | undefined {
  if (name === 'value') return rangeHint(about)
  if (name === 'msisdn') return phoneHint(about)
  return fieldTextsIn(about.t)[name]?.hint
}

function rangeHint({ t, retail, markupBps }: Hinting): string | undefined {
  const price = priceTexts(retail, t)
  if (price.type !== 'RANGE') return undefined
  if (retail.type === 'RANGE' && retail.floor !== undefined) {
    const range = t('form.range', { least: price.minValue, most: price.maxValue, step: price.step })
    return `${range} ${t('form.rangeCostBetween', { least: price.minUsdc, most: price.maxUsdc })}`
  }
  const cost =
    markupBps === 0 ? t('form.rangeCostSame') : t('form.rangeCost', { markup: markupBps / 10_000 })
  return `${t('form.range', { least: price.minValue, most: price.maxValue, step: price.step })} ${cost}`
}

function phoneHint({ offer, t }: Hinting): string {
  const code = offer.country === undefined ? undefined : callingCodeOf(offer.country)
  if (offer.country === undefined || code === undefined) return t('form.phoneElsewhere')
  return t('form.phone', { country: countryName(offer.country, t), code })
}

interface FieldTexts {
  readonly label: string
  readonly hint?: string
  readonly missing: string
  readonly wrong: string
  readonly faults?: Readonly<Partial<Record<FaultCode, string>>>
}

/** The texts of every field that a purchase may ask a person for, by its published name. */
export function fieldTextsIn(t: Texts): Readonly<Record<string, FieldTexts>> {
  return {
    value: {
      ...named('value', t),
      faults: { malformed: t('form.fields.value.malformed') },
    },
    msisdn: {
      ...named('msisdn', t),
      faults: {
        malformed: t('form.fields.msisdn.malformed'),
        impossible_number: t('form.fields.msisdn.impossible'),
        other_calling_code: t('form.fields.msisdn.elsewhere'),
        other_country: t('form.fields.msisdn.elsewhere'),
        not_mobile: t('form.fields.msisdn.notMobile'),
        unassigned_number: t('form.fields.msisdn.unassigned'),
      },
    },
    firstName: named('firstName', t),
    lastName: named('lastName', t),
    email: { ...named('email', t), hint: t('form.fields.email.hint') },
    country: { ...named('country', t), hint: t('form.fields.country.hint') },
    iccid: {
      ...named('iccid', t),
      hint: t('form.fields.iccid.hint'),
      faults: { foreign_esim: t('form.fields.iccid.foreign') },
    },
  }
}

type FieldName = 'value' | 'msisdn' | 'firstName' | 'lastName' | 'email' | 'country' | 'iccid'

function named(name: FieldName, t: Texts): FieldTexts {
  return {
    label: t(`form.fields.${name}.label`),
    missing: t(`form.fields.${name}.missing`),
    wrong: t(`form.fields.${name}.wrong`),
  }
}

export interface Typed {
  readonly fields: Readonly<Record<string, string>>
  /** The phone number that the buyer confirmed, as in the purchase; empty if none. */
  readonly confirmed: string
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
const maxSent = 300

export const names = {
  confirmed: 'confirmNumber',
  pay: 'pay',
  mail: 'mail',
  refundTo: (coin: string) => `refundTo-${coin}`,
  formKey: 'key',
  seen: 'seen',
} as const

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
    [...sent.values()].some((text) => text.length > maxSent)
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

/** The faults of the form: the sentence shown at each field, by the name of the field. */
export type FormFaults = ReadonlyMap<string, string>

export const noFaults: FormFaults = new Map()

interface Form {
  readonly typed: Typed
  readonly methods: readonly PaymentMethod[]
  readonly t: Texts
}

/** The faults that the checkout service found, as sentences for people at the fields of this form. */
export function faultsIn({ details: { faults = [] } }: Refusal, form: Form): FormFaults {
  const found = new Map(faults.map((fault) => faultAt(fault, form)))
  // In the order of the fields on the page.
  const order = [...Object.keys(form.typed.fields), names.pay, names.mail]
  const at = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1)
  return new Map([...found].sort(([one], [other]) => at(one) - at(other)))
}

function faultAt(fault: Fault, form: Form): readonly [name: string, message: string] {
  const { typed, t } = form
  const { code, field } = fault
  if (field === 'coin') return [names.pay, t('form.choose')]
  if (field === 'refundTo') {
    const text = code === 'own_address' ? t('form.refundOurs') : refundFault(form)
    return [names.refundTo(typed.pay), text]
  }
  if (field === names.mail) return [names.mail, t('form.mailWrong')]
  return [field, fieldFault(fault, form)]
}

function refundFault({ typed, methods, t }: Form): string {
  const method = methods.find(({ coin }) => coin === typed.pay)
  const isEmpty = (typed.refundTo[typed.pay] ?? '').trim() === ''
  if (method === undefined || isEmpty) return t('form.refundMissing', { coin: typed.pay })
  return t('form.refundWrong', { coin: coinOn(method.coin, method.network, t) })
}

function fieldFault({ field, code, didYouMean }: Fault, { typed, t }: Form): string {
  const texts = fieldTextsIn(t)[field]
  if (texts === undefined) return t('form.otherFault')
  const meant = (value: string) => t('form.didYouMean', { value })
  const about = { texts, typed: typed.fields[field] ?? '', meant }
  return fieldFaultText({ text: texts.faults?.[code], didYouMean }, about)
}
