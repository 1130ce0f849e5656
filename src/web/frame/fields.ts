import type { Texts } from '../texts/texts.ts'
import { type Html, html } from './html.ts'

/** A field of a form, with its texts. */
export interface Field {
  /** Its name in the form, which is also its id. */
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  readonly value: string
  /** Absent if it depends on another choice in the form. */
  readonly isRequired?: boolean
  /** Further HTML attributes of its control, such as `inputmode`. */
  readonly attributes: Readonly<Record<string, string>>
}

/**
 * A field with its label, its hint and its fault, each linked to it for screen readers.
 *
 * @param control the control, made with `tiesOf`, if it is not a text input
 */
export function fieldHtml(field: Field, t: Texts, control: Html = inputHtml(field)): Html {
  const { name, label, hint, fault, isRequired } = field
  return html`<div class="field">
<label for="${name}">${label}${isRequired === false && html` <i>(${t('form.optional')})</i>`}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${faultHtml(name, fault)}
${control}
</div>
`
}

/** The fault of a field, which screen readers read with it. Empty if there is none; the script fills it in. */
export function faultHtml(name: string, fault: string | undefined): Html {
  return html`<p class="fault" id="${name}-fault">${fault}</p>`
}

function inputHtml(field: Field): Html {
  return html`<input${attributesHtml({ type: 'text', ...field.attributes, value: field.value, ...tiesOf(field) })}>`
}

/** The attributes that link a control to its label, its hint and its fault. */
export function tiesOf({ name, hint, fault, isRequired }: Field): Record<string, string> {
  const described = [hint && `${name}-hint`, `${name}-fault`].filter(Boolean).join(' ')
  return {
    id: name,
    name,
    'aria-describedby': described,
    ...(isRequired ? { required: 'required' } : {}),
    ...(fault === undefined ? {} : { 'aria-invalid': 'true' }),
  }
}

/** The only field of a form. With a fault, it takes the focus, so that screen readers read it first. */
export function onlyField(field: Field, t: Texts): Html {
  const { fault, attributes } = field
  const focus = fault === undefined ? {} : { autofocus: 'autofocus' }
  return fieldHtml({ ...field, attributes: { ...attributes, ...focus } }, t)
}

/** The attributes of a field for an e-mail address. */
export const emailAttributes = { type: 'email', autocomplete: 'email', maxlength: '254' }

export function attributesHtml(attributes: Readonly<Record<string, string>>): Html[] {
  return Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)
}
