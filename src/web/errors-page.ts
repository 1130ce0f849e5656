import { internalRule, type Rule, rules } from '../desk/refusals.ts'
import { type ErrorCode, errorTexts } from './error-texts.ts'
import { type Html, html } from './html.ts'
import type { Page } from './layout.ts'

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
<thead><tr>${[texts.code, texts.when, texts.agent, texts.operator].map(
      (name) => html`<th scope="col">${name}</th>`,
    )}</tr></thead>
<tbody>
${errorCodes().map(row)}</tbody>
</table>`,
  }
}

/** The table's own keys, which its type makes complete; their order is that of the page. */
function errorCodes(): ErrorCode[] {
  return Object.keys(errorTexts) as ErrorCode[]
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

function ruleOf(code: ErrorCode): Rule {
  return code === 'internal_error' ? internalRule : rules[code]
}
