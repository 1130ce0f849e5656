import type { Texts } from '../texts/texts.ts'
import { type Html, html } from './html.ts'

/** A field of a form, with everything that is said about it. */
export interface Field {
  /** The name under which it is sent, which is its id too. */
  readonly name: string
  readonly label: string
  readonly hint?: string | undefined
  readonly fault?: string | undefined
  readonly value: string
  /** Absent where that depends on what else is chosen. */
  readonly isRequired?: boolean
  /** What a keyboard, a browser and a reader are told about it. */
  readonly attributes: Readonly<Record<string, string>>
}

/**
 * A field with its label, its hint and its fault, each tied to it for those who cannot see them.
 *
 * @param control what is filled in, made with `tiesOf`, where it is not a line of text
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

/** What is wrong with a field, which screen readers read with it. The script fills in an empty one. */
export function faultHtml(name: string, fault: string | undefined): Html {
  return html`<p class="fault" id="${name}-fault">${fault}</p>`
}

function inputHtml(field: Field): Html {
  return html`<input${attributesHtml({ type: 'text', ...field.attributes, value: field.value, ...tiesOf(field) })}>`
}

/** What ties a field to what is said about it. */
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

/** The only field of a form takes the focus when it comes back with a fault, so that it is read first. */
export function onlyField(field: Field, t: Texts): Html {
  const { fault, attributes } = field
  const focus = fault === undefined ? {} : { autofocus: 'autofocus' }
  return fieldHtml({ ...field, attributes: { ...attributes, ...focus } }, t)
}

/** Of a field for an e-mail address. */
export const emailAttributes = { type: 'email', autocomplete: 'email', maxlength: '254' }

export function attributesHtml(attributes: Readonly<Record<string, string>>): Html[] {
  return Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)
}
