import { create } from 'qrcode'
import { countryNames, once, type Texts } from '../texts/texts.ts'
import { type Html, html } from './html.ts'

/** A line of a list of facts; undefined without a value. */
export function fact(name: string, value: Html | string | undefined): Html | undefined {
  return value
    ? html`<div><dt>${name}</dt><dd>${value}</dd></div>
`
    : undefined
}

/** A text to copy, and a unit that is not copied. Without script, a tap selects the whole text. */
export function copied(id: string, value: string, what: string, t: Texts, unit?: string): Html {
  return html`<span class="copied"><code class="copy" id="${id}">${value}</code>${unit && html` <span>${unit}</span>`}<button type="button" class="copy-button" data-copy="#${id}" data-copied="${t('frame.copied')}" aria-label="${t('frame.copyOf', { what })}" hidden="hidden">${t('frame.copy')}</button></span>`
}

const timesIn = once(
  (language: string) =>
    new Intl.DateTimeFormat(language, {
      dateStyle: 'medium',
      timeStyle: 'short',
      hourCycle: 'h23',
      timeZone: 'UTC',
    }),
)

function timeText(at: Date, language: string): string {
  return `${timesIn(language).format(at)} UTC`
}

/** A time in UTC, for people: "Nov 22, 2026, 03:17 UTC". */
export function timeOf(at: Date, { language }: Texts): Html {
  return html`<time datetime="${at.toISOString()}">${timeText(at, language)}</time>`
}

/** The values of a time within a message: "until <time>{until}</time>". */
export function timeTag(until: Date, { language }: Texts) {
  return {
    until: timeText(until, language),
    time: (text: Html) => html`<time datetime="${until.toISOString()}">${text}</time>`,
  }
}

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

/** A field with its label, hint and fault, each linked to its control. */
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

/** Countries to choose from, by name. @param none what stands for none of them */
export function countryList(field: Field, none: string, t: Texts, codes?: readonly string[]): Html {
  const chosen = field.value.toUpperCase()
  const names = [...countryNames(t.language)].filter(([code]) => codes?.includes(code) ?? true)
  return html`<select${attributesHtml({ ...field.attributes, ...tiesOf(field) })}>
<option value="">${none}</option>
${names.map(
  ([code, name]) =>
    html`<option value="${code}"${code === chosen && html` selected="selected"`}>${name}</option>
`,
)}</select>`
}

/** The attributes that link a control to its label, its hint and its fault. */
function tiesOf({ name, hint, fault, isRequired }: Field): Record<string, string> {
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

/** Of what people copy or type letter by letter. */
export const codeAttributes = { autocomplete: 'off', autocapitalize: 'none', spellcheck: 'false' }
export const emailAttributes = { type: 'email', autocomplete: 'email', maxlength: '254' }

function attributesHtml(attributes: Readonly<Record<string, string>>): Html[] {
  return Object.entries(attributes).map(([name, value]) => html` ${name}="${value}"`)
}

/** The quiet zone around the code, in modules, as ISO/IEC 18004 requires. */
const margin = 4

/** A QR code as SVG inside the page; screen readers read `label`. */
export function qrSvg(text: string, label: string): Html {
  const { modules } = create(text, { errorCorrectionLevel: 'M' })
  const { size, data } = modules
  const side = size + 2 * margin
  const rows = Array.from({ length: size }, (_, y) => rowPath(data, size, y)).join('')
  return html`<svg class="qr-code" role="img" aria-label="${label}" viewBox="0 0 ${side} ${side}" width="240" height="240" shape-rendering="crispEdges"><rect width="${side}" height="${side}" fill="#fff"></rect><path fill="#000" d="${rows}"></path></svg>`
}

/** The dark modules of a row, each run of them as one rectangle. */
function rowPath(data: ArrayLike<number | boolean>, size: number, y: number): string {
  let path = ''
  for (let x = 0; x < size; x += 1) {
    const start = x
    while (x < size && data[y * size + x]) x += 1
    if (x > start) path += `M${start + margin} ${y + margin}h${x - start}v1h-${x - start}z`
  }
  return path
}
