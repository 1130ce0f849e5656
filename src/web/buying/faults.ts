import type { PaymentMethod } from '../../checkouts/ports.ts'
import { ownAddress } from '../../checkouts/start.ts'
import type { Fault, Refusal } from '../../lib/refusal.ts'
import type { Texts } from '../texts/en.ts'
import { fieldFaultText } from './field-fault.ts'
import { names, type Typed } from './typed.ts'

/** What is wrong in the form: what a person is told, by the field that it stands at. */
export type FormFaults = ReadonlyMap<string, string>

export const noFaults: FormFaults = new Map()

interface Form {
  readonly typed: Typed
  readonly methods: readonly PaymentMethod[]
  readonly texts: Texts
}

/** What the checkout service found wrong, in words for people and at the fields of this form. */
export function faultsIn({ details: { errors = [] } }: Refusal, form: Form): FormFaults {
  const found = new Map(errors.map((fault) => faultAt(fault, form)))
  // In the order of the page, as it is read from top to bottom.
  const order = [...Object.keys(form.typed.fields), names.pay, names.mail]
  const at = (name: string) => (order.indexOf(name) + order.length + 1) % (order.length + 1)
  return new Map([...found].sort(([one], [other]) => at(one) - at(other)))
}

function faultAt(fault: Fault, form: Form): readonly [name: string, message: string] {
  const { typed, texts } = form
  if (fault.parameter === 'coin') return [names.pay, texts.form.choose]
  if (fault.parameter === 'refundTo') {
    const isOurs = fault.message === ownAddress
    return [names.refundTo(typed.pay), isOurs ? texts.form.refundOurs : refundFault(form)]
  }
  if (fault.parameter === names.mail) return [names.mail, texts.form.mailWrong]
  return [fault.parameter, fieldFault(fault, form)]
}

function refundFault({ typed, methods, texts: { form } }: Form): string {
  const method = methods.find(({ coin }) => coin === typed.pay)
  const isEmpty = (typed.refundTo[typed.pay] ?? '').trim() === ''
  if (method === undefined || isEmpty) return form.refundMissing(typed.pay)
  return form.refundWrong(method.coin, method.network)
}

function fieldFault(fault: Fault, { typed, texts }: Form): string {
  const text = texts.form.fields[fault.parameter]
  if (text === undefined) return texts.form.otherFault
  const value = typed.fields[fault.parameter] ?? ''
  return fieldFaultText(fault, { texts: text, typed: value, meant: texts.form.didYouMean })
}
