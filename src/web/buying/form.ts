import { randomBytes } from 'node:crypto'
import {
  type AskedCheck,
  type AskedField,
  askedFields,
} from '../../catalog/kinds/voucher-fields.ts'
import type { Offer } from '../../catalog/offer.ts'
import { callingCodeOf, phoneMeantBy } from '../../catalog/phone.ts'
import type { Retail } from '../../catalog/pricing.ts'
import { type Fields, requiredFieldsOf } from '../../catalog/purchase-body.ts'
import type { PaymentMethod } from '../../checkouts/ports.ts'
import type { Fault, FaultCode } from '../../lib/refusal.ts'
import type { WebDeps } from '../frame/deps.ts'
import type { Field } from '../frame/parts.ts'
import { coinOn, priceTexts } from '../shop/money-text.ts'
import { countryName, type MessageId, type Texts } from '../texts/texts.ts'
import {
  type Confirmed,
  fieldValue,
  purchaseFields,
  type ShownPrice,
  shownCost,
} from './field-value.ts'

/** Longer than any valid value of a field, and short enough to show again. */
const maxText = '254'

/** Every field that a purchase may ask a person for, by its published name, which is also that of its messages. */
const fieldRules = {
  value: {
    attributes: { inputmode: 'decimal', autocomplete: 'off', maxlength: '20' },
    faults: { malformed: 'form.fields.value.malformed' },
  },
  msisdn: {
    attributes: { type: 'tel', inputmode: 'tel', autocomplete: 'tel', maxlength: '40' },
    faults: {
      malformed: 'form.fields.msisdn.malformed',
      impossible_number: 'form.fields.msisdn.impossible',
      other_calling_code: 'form.fields.msisdn.elsewhere',
      other_country: 'form.fields.msisdn.elsewhere',
      not_mobile: 'form.fields.msisdn.notMobile',
      unassigned_number: 'form.fields.msisdn.unassigned',
    },
  },
  firstName: { attributes: { autocomplete: 'given-name', maxlength: maxText } },
  lastName: { attributes: { autocomplete: 'family-name', maxlength: maxText } },
  email: {
    attributes: { type: 'email', inputmode: 'email', autocomplete: 'email', maxlength: maxText },
    hint: 'form.fields.email.hint',
  },
  country: { attributes: { autocomplete: 'country' }, hint: 'form.fields.country.hint' },
  iccid: {
    attributes: { inputmode: 'numeric', autocomplete: 'off', maxlength: '40' },
    hint: 'form.fields.iccid.hint',
    faults: {
      foreign_esim: 'form.fields.iccid.foreign',
      other_esim: 'form.fields.iccid.otherBrand',
    },
  },
} as const satisfies Readonly<Record<string, FieldRule>>

interface FieldRule {
  readonly attributes: Readonly<Record<string, string>>
  /** Absent if it depends on the offer. */
  readonly hint?: MessageId
  /** The messages of faults that have one of their own. */
  readonly faults?: Readonly<Partial<Record<FaultCode, MessageId>>>
}

type FieldName = keyof typeof fieldRules

/** The fields that only some brands ask for, by how they are checked. */
const askedAttributes: Readonly<Record<AskedCheck, FieldRule['attributes']>> = {
  line: { maxlength: maxText },
  message: { maxlength: '200' },
  phone: { type: 'tel', inputmode: 'tel', maxlength: '40' },
  country: {},
  postal: { maxlength: '20' },
  date: { type: 'date' },
  language: { maxlength: '2' },
}

const isAsked = (name: string): name is AskedField => name in askedFields

/** Whether a person chooses the value of this field from the list of countries. */
export function isCountryField(name: string): boolean {
  return name === 'country' || (isAsked(name) && askedFields[name].check === 'country')
}

/** A field of a purchase, without a value. */
export type FormField = Omit<Field, 'fault' | 'value'>

/** The fields that a person fills in to buy this offer, in the order of the page: the amount comes first. */
export function formFieldsOf(
  offer: Offer,
  retail: Retail,
  deps: Pick<WebDeps, 't' | 'pricing'>,
): FormField[] {
  const required = requiredFieldsOf(offer)
  const names = [...required].sort(
    (one, other) => Number(other === 'value') - Number(one === 'value'),
  )
  if (offer.kind === 'esim') names.push('iccid')
  return names.map((text) => {
    const isRequired = required.includes(text)
    if (isAsked(text)) return askedField(text, isRequired, deps.t)
    const name = text as FieldName
    return {
      name,
      label: labelOf(name, deps.t),
      hint: hintOf(name, { offer, retail, ...deps }),
      isRequired,
      attributes: fieldRules[name].attributes,
    }
  })
}

function askedField(name: AskedField, isRequired: boolean, t: Texts): FormField {
  const { check } = askedFields[name]
  const hint = check === 'date' ? t('form.asked.wrong.date') : t('form.asked.hint')
  return { name, label: labelOf(name, t), hint, isRequired, attributes: askedAttributes[check] }
}

/** A field of a purchase as people call it; its published name where no page asks for it. */
export function labelOf(name: string, t: Texts): string {
  if (isAsked(name)) {
    const { of: side, part } = askedFields[name]
    return t(`form.asked.${part}`, { side })
  }
  return name in fieldRules ? t(`form.fields.${name as FieldName}.label`) : name
}

interface Hinting extends Pick<WebDeps, 't' | 'pricing'> {
  readonly offer: Offer
  readonly retail: Retail
}

function hintOf(name: FieldName, about: Hinting): string | undefined {
  if (name === 'value') return rangeHint(about)
  if (name === 'msisdn') return phoneHint(about)
  const { hint }: FieldRule = fieldRules[name]
  return hint && about.t(hint)
}

function rangeHint({ t, retail }: Hinting): string | undefined {
  const price = priceTexts(retail, t)
  if (retail.type !== 'RANGE' || price.type !== 'RANGE') return undefined
  const range = t('form.range', { least: price.minValue, most: price.maxValue, step: price.step })
  const { bps, cents } = retail.margin
  if (retail.floor !== undefined || bps < 0 || cents !== 0) {
    return `${range} ${t('form.rangeCostBetween', { least: price.minUsdc, most: price.maxUsdc })}`
  }
  return bps === 0
    ? `${range} ${t('form.rangeCostSame')}`
    : `${range} ${t('form.rangeCost', { markup: bps / 10_000 })}`
}

function phoneHint({ offer: { country }, t }: Hinting): string {
  const code = country && callingCodeOf(country)
  return country && code
    ? t('form.phone', { country: countryName(country, t), code })
    : t('form.phoneElsewhere')
}

export interface Typed extends Confirmed {
  readonly fields: Readonly<Record<string, string>>
  readonly pay: string
  /** The addresses for refunds, by coin. All are kept, so that changing the coin loses nothing. */
  readonly refundTo: Readonly<Record<string, string>>
  /** Where links to the order may be sent; empty if the buyer left no address. */
  readonly mail: string
  /** New for each form that the store sends. */
  readonly formKey: string
  /** The price that the person saw, as `shownPriceOf` writes it. */
  readonly seen: string
}

const keyPattern = /^[A-Za-z0-9_-]{22}$/
/** In characters; no valid field is longer. */
const maxSent = 300

/** The form's value for paying from a wallet; no coin has this name. */
export const walletWay = 'USDC'

export const names = {
  confirmed: 'confirmNumber',
  another: 'confirmAnother',
  pay: 'pay',
  mail: 'mail',
  refundTo: (coin: string) => `refundTo-${coin}`,
  formKey: 'key',
  seen: 'seen',
} as const

export function untyped(retail: Retail, methods: readonly PaymentMethod[]): Typed {
  const [only, ...others] = methods
  return {
    fields: {},
    confirmed: '',
    another: '',
    pay: only !== undefined && others.length === 0 ? only.coin : '',
    refundTo: {},
    mail: '',
    formKey: randomBytes(16).toString('base64url'),
    seen: shownPriceOf(retail),
  }
}

/** The form as it was sent; undefined if this form cannot have sent it. */
export function readTyped(
  sent: URLSearchParams,
  fields: readonly FormField[],
  methods: readonly PaymentMethod[],
): Typed | undefined {
  const fieldNames = fields.map(({ name }) => name)
  const coins = methods.map(({ coin }) => coin)
  const { confirmed, another, pay, mail, formKey, seen } = names
  const knownNames = [
    ...fieldNames,
    ...coins.map(names.refundTo),
    ...[confirmed, another, pay, mail, formKey, seen],
  ]
  const isOdd =
    [...sent.keys()].some(
      (name, at, all) => !knownNames.includes(name) || all.indexOf(name) !== at,
    ) || [...sent.values()].some((text) => text.length > maxSent)
  const textOf = (name: string) => sent.get(name) ?? ''
  if (isOdd || !keyPattern.test(textOf(formKey))) return undefined
  return {
    fields: Object.fromEntries(fieldNames.map((name) => [name, textOf(name)])),
    confirmed: textOf(confirmed),
    another: textOf(another),
    pay: textOf(pay),
    refundTo: Object.fromEntries(coins.map((coin) => [coin, textOf(names.refundTo(coin))])),
    mail: textOf(mail).trim(),
    formKey: textOf(formKey),
    seen: textOf(seen),
  }
}

export function purchaseFieldsOf(offer: Offer, typed: Typed): Fields {
  return purchaseFields(offer.id, { ...typed.fields, msisdn: numberIn(typed, offer) }, typed)
}

/** The phone number as in the purchase: one typed as it is dialled in the offer's country gets the calling code. */
export function numberIn({ fields }: Typed, { country }: Pick<Offer, 'country'>): string {
  const text = fields['msisdn'] ?? ''
  const isDialled = country !== undefined && !text.trim().startsWith('+')
  return String(fieldValue('msisdn', (isDialled && phoneMeantBy(text, country)) || text))
}

/** The price that the form shows, as it sends it back; empty if it shows none. */
export function shownPriceOf(retail: Retail): string {
  if (retail.type === 'NOT_SOLD') return ''
  if (retail.type === 'FIXED') return written({ cents: retail.cents })
  const { min, max, floor, margin } = retail
  const { bps, cents } = margin
  return written({ min, max, ...(floor && { floor }), margin: { bps, cents } })
}

const written = (shown: ShownPrice) => JSON.stringify(shown)

/** Whether the purchase costs more now than the person saw. An unreadable price counts as not seen. */
export function isDearer({ seen, fields }: Typed, shown: string): boolean {
  const value = fieldValue('value', fields['value'] ?? '')
  try {
    const [before, now] = [shownCost(seen, value), shownCost(shown, value)]
    return now !== undefined && (before === undefined || now > before)
  } catch {
    return true
  }
}

/** The faults of the form: the sentence shown at each field, by the name of the field. */
export type FormFaults = ReadonlyMap<string, string>

export const noFaults: FormFaults = new Map()

/** The form as the page shows it again, with what was typed. */
export interface FormFeedback {
  readonly status: number
  readonly typed: Typed
  readonly faults: FormFaults
  /** Why it was not accepted, if that is not for its fields. */
  readonly notice?: string | undefined
  /** Whole seconds after which the same form may be accepted. */
  readonly retryAfterSeconds?: number | undefined
}

interface Form {
  readonly typed: Typed
  readonly methods: readonly PaymentMethod[]
  readonly t: Texts
}

/** The faults of a purchase, as sentences for people at the fields of this form, in the order of the page. */
export function faultsIn(faults: readonly Fault[], form: Form): FormFaults {
  const byField = new Map(faults.map((fault) => faultAt(fault, form)))
  const order = [...Object.keys(form.typed.fields), names.pay, names.mail]
  const at = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1)
  return new Map([...byField].sort(([one], [other]) => at(one) - at(other)))
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
  const suggested = (wrong: string) =>
    didYouMean === undefined
      ? wrong
      : `${wrong} ${t('form.didYouMean', { value: String(didYouMean) })}`
  if (isAsked(field)) {
    const isEmpty = (typed.fields[field] ?? '').trim() === ''
    const { check } = askedFields[field]
    return isEmpty ? t('form.asked.missing') : suggested(t(`form.asked.wrong.${check}`))
  }
  if (!(field in fieldRules)) return t('form.otherFault')
  const name = field as FieldName
  if ((typed.fields[name] ?? '').trim() === '') return t(`form.fields.${name}.missing`)
  const { faults = {} }: FieldRule = fieldRules[name]
  return suggested(t(faults[code] ?? `form.fields.${name}.wrong`))
}
