import { type Html, html } from '../frame/html.ts'
import { countriesByName } from '../texts/countries.ts'
import type { Texts } from '../texts/texts.ts'
import type { FormField } from './form-fields.ts'

/** The value of a field, and what is wrong with it. */
export interface Content {
  readonly value: string
  readonly fault: string | undefined
}

/** A field with its label, its hint and its fault, each tied to it for those who cannot see them. */
export function fieldHtml(field: FormField, content: Content, t: Texts): Html {
  const { name, label, hint, isRequired } = field
  return html`<div class="field">
<label for="${name}">${label}${!isRequired && html` <i>(${t('form.optional')})</i>`}</label>
${hint && html`<p class="hint" id="${name}-hint">${hint}</p>`}
${faultHtml(name, content.fault)}
${name === 'country' ? countryList(field, content, t) : inputHtml(field, content)}
</div>
`
}

/** What is wrong with a field, which screen readers read with it. The script fills in an empty one. */
export function faultHtml(name: string, fault: string | undefined): Html {
  return html`<p class="fault" id="${name}-fault">${fault}</p>`
}

function inputHtml(field: FormField, content: Content): Html {
  const attributes = { type: 'text', ...field.attributes, value: content.value }
  return html`<input${attributesHtml({ ...attributes, ...shared(field, content) })}>`
}

function countryList(field: FormField, content: Content, t: Texts): Html {
  const chosen = content.value.toUpperCase()
  return html`<select${attributesHtml({ ...field.attributes, ...shared(field, content) })}>
<option value="">${t('form.chooseCountry')}</option>
${countriesByName(t).map(
  ({ code, name }) =>
    html`<option value="${code}"${code === chosen && html` selected="selected"`}>${name}</option>
`,
)}</select>`
}

/** What ties a field to what is said about it. */
function shared({ name, hint, isRequired }: FormField, { fault }: Content): Record<string, string> {
  const described = [hint && `${name}-hint`, `${name}-fault`].filter(Boolean).join(' ')
  return {
    id: name,
    name,
    'aria-describedby': described,
    ...(isRequired ? { required: 'required' } : {}),
    ...(fault === undefined ? {} : { 'aria-invalid': 'true' }),
  }
}

export function attributesHtml(attributes: Readonly<Record<string, string>>): Html[] {
  return Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)
}
