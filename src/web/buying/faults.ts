import type { PaymentMethod } from '../../checkouts/ports.ts'
import type { Fault } from '../../lib/fault.ts'
import type { Refusal } from '../../lib/refusal.ts'
import { coinOn } from '../shop/money-text.ts'
import type { Texts } from '../texts/texts.ts'
import { fieldFaultText } from './field-value.ts'
import { fieldTextsIn } from './form-fields.ts'
import { names, type Typed } from './typed.ts'

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
