import { errorCodes, ruleOf } from './error-tables.ts'
import { type ErrorCode, errorTexts } from './error-texts.ts'
import { type Html, html } from './html.ts'
import type { Page } from './layout.ts'
import { type OutcomeSection, outcomeSections } from './outcome-texts.ts'
import type { Outcome } from './payment-texts.ts'

const texts = {
  title: 'Errors explained',
  description: 'Every error code of this store: when it is answered, and what to do about it.',
  lead: 'Every refusal has a code, and its problem document (RFC 9457) links to its row here. Errors about money also say in "charged" whether any moved: no, yes or unknown.',
  code: 'Code',
  when: 'When',
  agent: 'What the agent does',
  operator: 'What the operator does',
  retryable: 'may work later',
} as const

/** Where the `type` of every problem document points: `/errors#code`. */
export function errorsPage(): Page {
  return {
    title: texts.title,
    description: texts.description,
    path: '/errors',
    main: html`<h1>${texts.title}</h1>
<p class="lead">${texts.lead}</p>
<table class="errors">
<caption class="hidden">${texts.description}</caption>
${columnNames}
<tbody>
${errorCodes().map(row)}</tbody>
</table>
${outcomeSections.map(sectionOf)}`,
  }
}

const columnNames = html`<thead><tr>${[texts.code, texts.when, texts.agent, texts.operator].map(
  (name) => html`<th scope="col">${name}</th>`,
)}</tr></thead>`

/** The codes that stand elsewhere than in a problem document. */
function sectionOf({ id, heading, lead, outcomes }: OutcomeSection): Html {
  return html`<h2 id="${id}">${heading}</h2>
<p>${withCode(lead)}</p>
<table class="errors">
<caption class="hidden">${heading}</caption>
${columnNames}
<tbody>
${outcomes.map((outcome) => outcomeRow(id, outcome))}</tbody>
</table>
`
}

function outcomeRow(section: string, { code, note, when, agent, operator }: Outcome): Html {
  const id = `${section}-${code}`
  return html`<tr id="${id}">
<th scope="row"><a href="#${id}"><code>${code}</code></a>${note !== undefined && html` <small>${note}</small>`}</th>
<td data-name="${texts.when}">${withCode(when)}</td>
<td data-name="${texts.agent}">${withCode(agent)}</td>
<td data-name="${texts.operator}">${withCode(operator)}</td>
</tr>
`
}

/** Text whose parts in backticks are code. */
function withCode(text: string): Html {
  const parts = text.split('`')
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

function row(code: ErrorCode): Html {
  const { when, agent, operator } = errorTexts[code]
  const { status, title, retryable } = ruleOf(code)
  return html`<tr id="${code}">
<th scope="row"><a href="#${code}"><code>${code}</code></a> <span class="status">${status}</span> <small>${title}${retryable && html`; ${texts.retryable}`}</small></th>
<td data-name="${texts.when}">${when}</td>
<td data-name="${texts.agent}">${agent}</td>
<td data-name="${texts.operator}">${operator}</td>
</tr>
`
}
