import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { ErrorCode } from '../texts/en/error-codes.ts'
import type { OutcomeSection } from '../texts/en/outcomes.ts'
import type { Outcome } from '../texts/en/payments.ts'
import type { Texts } from '../texts/en.ts'
import { errorCodes, ruleOf } from './error-tables.ts'

/** Where the `type` of every problem document points: `/errors#code`. */
export function errorsPage(texts: Texts): Page {
  const { errors, outcomeSections } = texts
  return {
    title: errors.title,
    description: errors.description,
    path: '/errors',
    main: html`<h1>${errors.title}</h1>
<p class="lead">${errors.lead}</p>
<table class="errors">
<caption class="hidden">${errors.description}</caption>
${columnNames(texts)}
<tbody>
${errorCodes().map((code) => row(code, texts))}</tbody>
</table>
${outcomeSections.map((section) => sectionOf(section, texts))}`,
  }
}

function columnNames({ errors }: Texts): Html {
  return html`<thead><tr>${[errors.code, errors.when, errors.agent, errors.operator].map(
    (name) => html`<th scope="col">${name}</th>`,
  )}</tr></thead>`
}

/** The codes that stand elsewhere than in a problem document. */
function sectionOf({ id, heading, lead, outcomes }: OutcomeSection, texts: Texts): Html {
  return html`<h2 id="${id}">${heading}</h2>
<p>${withCode(lead)}</p>
<table class="errors">
<caption class="hidden">${heading}</caption>
${columnNames(texts)}
<tbody>
${outcomes.map((outcome) => outcomeRow(id, outcome, texts))}</tbody>
</table>
`
}

function outcomeRow(
  section: string,
  { code, note, when, agent, operator }: Outcome,
  { errors }: Texts,
): Html {
  const id = `${section}-${code}`
  return html`<tr id="${id}">
<th scope="row"><a href="#${id}"><code>${code}</code></a>${note !== undefined && html` <small>${note}</small>`}</th>
<td data-name="${errors.when}">${withCode(when)}</td>
<td data-name="${errors.agent}">${withCode(agent)}</td>
<td data-name="${errors.operator}">${withCode(operator)}</td>
</tr>
`
}

/** Text whose parts in backticks are code. */
function withCode(text: string): Html {
  const parts = text.split('`')
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

function row(code: ErrorCode, { errors, errorTexts }: Texts): Html {
  const { when, agent, operator } = errorTexts[code]
  const { status, title, retryable } = ruleOf(code)
  return html`<tr id="${code}">
<th scope="row"><a href="#${code}"><code>${code}</code></a> <span class="status">${status}</span> <small>${title}${retryable && html`; ${errors.retryable}`}</small></th>
<td data-name="${errors.when}">${when}</td>
<td data-name="${errors.agent}">${agent}</td>
<td data-name="${errors.operator}">${operator}</td>
</tr>
`
}
