import type { FaultCode } from '../../lib/fault.ts'
import type { Texts } from '../texts/texts.ts'

/** A field of a purchase as people are asked for it. */
export interface FieldTexts {
  readonly label: string
  readonly hint?: string
  /** What is said when nothing stands in it. */
  readonly missing: string
  /** What is said when what stands in it is none. */
  readonly wrong: string
  /** What is said instead of these faults. */
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
