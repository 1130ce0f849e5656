import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import type { Texts } from '../texts/texts.ts'
import {
  type ErrorCode,
  errorCodes,
  meaningOf,
  type Outcome,
  type OutcomeSection,
  outcomeSections,
  ruleOf,
} from './error-codes.ts'

/** The page to which the `type` of every problem document points: `/errors#code`. */
export function errorsPage(t: Texts): Page {
  return {
    title: t('errors.title'),
    description: t('errors.description'),
    path: '/errors',
    main: html`<h1>${t('errors.title')}</h1>
<p class="lead">${t('errors.lead')}</p>
<table class="errors">
<caption class="hidden">${t('errors.description')}</caption>
${columnNames(t)}
<tbody>
${errorCodes.map((code) => row(code, t))}</tbody>
</table>
${outcomeSections.map((section) => sectionOf(section, t))}`,
  }
}

function columnNames(t: Texts): Html {
  return html`<thead><tr>${[
    t('errors.code'),
    t('errors.when'),
    t('errors.agent'),
    t('errors.operator'),
  ].map((name) => html`<th scope="col">${name}</th>`)}</tr></thead>`
}

/** The codes of one place outside problem documents. */
function sectionOf({ id, outcomes }: OutcomeSection, t: Texts): Html {
  const heading = t(`outcome.${id}.heading`)
  return html`<h2 id="${id}">${heading}</h2>
<p>${withCode(t(`outcome.${id}.lead`))}</p>
<table class="errors">
<caption class="hidden">${heading}</caption>
${columnNames(t)}
<tbody>
${outcomes.map((outcome) => outcomeRow(outcome, t))}</tbody>
</table>
`
}

function outcomeRow(outcome: Outcome, t: Texts): Html {
  const { code, note, isRetryable } = outcome
  const { when, agent, operator } = meaningOf(`outcome.${outcome.id}`, t)
  const id = outcome.id.replace('.', '-')
  return html`<tr id="${id}">
<th scope="row"><a href="#${id}"><code>${code}</code></a>${note !== undefined && html` <small><span lang="en">${note}</span>${isRetryable && html`; ${t('errors.retryable')}`}</small>`}</th>
<td data-name="${t('errors.when')}">${withCode(when)}</td>
<td data-name="${t('errors.agent')}">${withCode(agent)}</td>
<td data-name="${t('errors.operator')}">${withCode(operator)}</td>
</tr>
`
}

/** Text whose parts in backticks are code. */
function withCode(text: string): Html {
  const parts = text.split('`')
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`
}

function row(code: ErrorCode, t: Texts): Html {
  const { when, agent, operator } = meaningOf(`error.${code}`, t)
  const { status, title, retryable } = ruleOf(code)
  return html`<tr id="${code}">
<th scope="row"><a href="#${code}"><code>${code}</code></a> <span class="status">${status}</span> <small><span lang="en">${title}</span>${retryable && html`; ${t('errors.retryable')}`}</small></th>
<td data-name="${t('errors.when')}">${when}</td>
<td data-name="${t('errors.agent')}">${agent}</td>
<td data-name="${t('errors.operator')}">${operator}</td>
</tr>
`
}
