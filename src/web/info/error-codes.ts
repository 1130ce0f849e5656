import { internalRule, type RefusalCode, type Rule, rules } from '../../lib/refusal.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { type MessageId, messagesOf, type Texts, textsIn } from '../texts/texts.ts'

/** The codes of errors: every refusal, and the code of our own defects. */
type ErrorCode = RefusalCode | 'internal_error'

/** Every code of a problem document, in the order of the tables. */
export const errorCodes: readonly ErrorCode[] = [
  ...(Object.keys(rules) as RefusalCode[]),
  'internal_error',
]

/** The status and the title of a code. */
function ruleOf(code: ErrorCode): Rule {
  return code === 'internal_error' ? internalRule : rules[code]
}

/** The meaning of a code. */
interface Meaning {
  /** When the store answers with it. */
  readonly when: string
  /** What the calling agent should do. */
  readonly agent: string
  /** What the operator of the store should do, if anything. */
  readonly operator: string
}

/** A name of messages with a meaning, such as "error.rate_limited". */
type MeaningName = {
  [Id in MessageId]: Id extends `${infer Group}.${infer Name}.when` ? `${Group}.${Name}` : never
}[MessageId]

function meaningOf(name: MeaningName, t: Texts): Meaning {
  return { when: t(`${name}.when`), agent: t(`${name}.agent`), operator: t(`${name}.operator`) }
}

type OutcomeId = MeaningName extends infer Name
  ? Name extends `outcome.${infer Id}`
    ? Id
    : never
  : never

const places = ['unread', 'payments', 'orders', 'refunds', 'offers'] as const
type Place = (typeof places)[number]

/** A code that does not appear in the `code` of a problem document. */
interface Outcome {
  /** The place where it appears, and the code: "payments.expired". */
  readonly id: OutcomeId
  readonly code: string
  /** The status or the state that always accompanies it, if there is one. */
  readonly note?: string | undefined
  /** Whether the same request may succeed later. */
  readonly isRetryable?: true
}

interface OutcomeSection {
  readonly id: Place
  readonly outcomes: readonly Outcome[]
}

/** The codes of answers to requests that the HTTP parser cannot read. */
const parserNotes: Readonly<Record<string, Pick<Outcome, 'note' | 'isRetryable'>>> = {
  invalid_http: { note: '400' },
  request_timeout: { note: '408', isRetryable: true },
  headers_too_large: { note: '431' },
}

/** Every other code that an agent may get, by the place where it appears. `en.json` lists them. */
export const outcomeSections: readonly OutcomeSection[] = places.map((place) => ({
  id: place,
  outcomes: Object.keys(messagesOf('en')).flatMap((id) => {
    const code = new RegExp(`^outcome\\.${place}\\.(.*)\\.when$`).exec(id)?.[1]
    return code === undefined
      ? []
      : [{ id: `${place}.${code}` as OutcomeId, code, ...notesOn(place, code) }]
  }),
}))

function notesOn(place: Place, code: string): Pick<Outcome, 'note' | 'isRetryable'> {
  switch (place) {
    case 'unread':
      return parserNotes[code] ?? {}
    case 'payments':
      return { note: '402' }
    case 'orders':
      return { note: stateWith(code) }
    case 'refunds':
    case 'offers':
      return {}
  }
}

/** The state of an order that failed with this code. */
function stateWith(code: string): string {
  if (code.startsWith('authorization_')) return 'PAYMENT_FAILED'
  return code === 'expired' ? 'EXPIRED' : 'FULFILLMENT_FAILED'
}

/** The language of documents and of models. */
const t = textsIn('en')

/** A table in Markdown, under a heading that says where its codes appear. */
interface ErrorTable {
  readonly heading: string
  readonly lead: string
  readonly table: string
}

/** Every code, as tables in Markdown: for docs/agents/errors.md and for models. */
export function errorTables(): readonly ErrorTable[] {
  const refusals = errorCodes.map((code) => {
    const { status, retryable } = ruleOf(code)
    return rowOf(code, noteOf(String(status), retryable), meaningOf(`error.${code}`, t))
  })
  const lead =
    'In the `code` of a problem document. *retryable* means that the very same request may succeed later.'
  return [
    { heading: 'Refusals', lead, table: tableOf(refusals) },
    ...outcomeSections.map(({ id, outcomes }) => ({
      heading: t(`outcome.${id}.heading`),
      lead: t(`outcome.${id}.lead`),
      table: tableOf(
        outcomes.map(({ id: outcome, code, note, isRetryable }) =>
          rowOf(code, noteOf(note, isRetryable), meaningOf(`outcome.${outcome}`, t)),
        ),
      ),
    })),
  ]
}

function noteOf(note = '', isRetryable = false): string {
  return isRetryable ? `${note}, retryable` : note
}

function rowOf(code: string, note: string, { when, agent, operator }: Meaning): string {
  return `| ${[`\`${code}\``, note, when, agent, operator].join(' | ')} |`
}

function tableOf(rows: readonly string[]): string {
  const head = [
    '| code | comes with | when | agent does | operator does |',
    '|---|---|---|---|---|',
  ]
  return [...head, ...rows].join('\n')
}

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
