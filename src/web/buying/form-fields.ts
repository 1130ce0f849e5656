import type { Offer } from '../../catalog/offer.ts'
import { callingCodeOf } from '../../catalog/phone.ts'
import type { Pricing, Retail } from '../../catalog/pricing.ts'
import { requiredFieldsOf } from '../../catalog/purchase-body.ts'
import type { FaultCode } from '../../lib/fault.ts'
import type { Field } from '../frame/fields.ts'
import { priceTexts } from '../shop/money-text.ts'
import { countryName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'

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

/** The texts of a field for people. */
interface FieldTexts {
  readonly label: string
  readonly hint?: string
  /** Shown when it is empty. */
  readonly missing: string
  /** Shown when its value is not valid. */
  readonly wrong: string
  /** Shown instead, for these faults. */
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
