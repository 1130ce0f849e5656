import { internalRule, type RefusalCode, rules } from '../../lib/refusal.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { type MessageId, messagesOf, type Texts, textsIn } from '../texts/texts.ts'

interface ErrorRow {
  readonly id: string
  readonly code: string
  /** The status or the state that always accompanies it, if there is one. */
  readonly note?: string
  readonly title?: string
  /** Whether the same request may succeed later. */
  readonly isRetryable?: boolean
  readonly when: string
  readonly agent: string
  readonly operator: string
}

const places = ['unread', 'payments', 'orders', 'refunds', 'offers'] as const
type Place = (typeof places)[number]

/** A name of messages with a meaning, such as "error.rate_limited". */
type MeaningName = {
  [Id in MessageId]: Id extends `${infer Group}.${infer Name}.when` ? `${Group}.${Name}` : never
}[MessageId]

/** Every code: first those of problem documents, then those of other places, which `en.json` lists. */
export function errorSections(t: Texts) {
  const codes = [...(Object.keys(rules) as RefusalCode[]), 'internal_error'] as const
  const refusals = codes.map((code): ErrorRow => {
    const { status, title, retryable } = code === 'internal_error' ? internalRule : rules[code]
    const meaning = meaningOf(`error.${code}`, t)
    return { id: code, code, note: String(status), title, isRetryable: retryable, ...meaning }
  })
  const lead =
    'In the `code` of a problem document. *retryable* means that the very same request may succeed later.'
  return [
    { id: 'refusals', heading: 'Refusals', lead, rows: refusals },
    ...places.map((place) => ({
      id: place,
      heading: t(`outcome.${place}.heading`),
      lead: t(`outcome.${place}.lead`),
      rows: Object.keys(messagesOf('en')).flatMap((id): ErrorRow[] => {
        const code = new RegExp(`^outcome\\.${place}\\.(.*)\\.when$`).exec(id)?.[1]
        if (code === undefined) return []
        const meaning = meaningOf(`outcome.${place}.${code}` as MeaningName, t)
        return [{ id: `${place}-${code}`, code, ...notesOn(place, code), ...meaning }]
      }),
    })),
  ]
}

function meaningOf(name: MeaningName, t: Texts) {
  return { when: t(`${name}.when`), agent: t(`${name}.agent`), operator: t(`${name}.operator`) }
}

const parserNotes: Readonly<Record<string, Pick<ErrorRow, 'note' | 'isRetryable'>>> = {
  invalid_http: { note: '400' },
  request_timeout: { note: '408', isRetryable: true },
  headers_too_large: { note: '431' },
}

function notesOn(place: Place, code: string): Pick<ErrorRow, 'note' | 'isRetryable'> {
  if (place === 'unread') return parserNotes[code] ?? {}
  if (place === 'payments') return { note: '402' }
  return place === 'orders' ? { note: stateWith(code) } : {}
}

function stateWith(code: string): string {
  if (code.startsWith('authorization_')) return 'PAYMENT_FAILED'
  return code === 'expired' ? 'EXPIRED' : 'FULFILLMENT_FAILED'
}

/** Every code, and what an agent does about it, in Markdown: for docs/agents/errors.md and for models. */
export function errorTables(): string {
  const tables = errorSections(textsIn('en')).map(({ heading, lead, rows }) => {
    const lines = rows.map(({ code, note = '', isRetryable, when, agent }) => {
      const comesWith = isRetryable ? `${note}, retryable` : note
      return `| ${[`\`${code}\``, comesWith, when, agent].join(' | ')} |`
    })
    const head = '| code | comes with | when | what to do |\n|---|---|---|---|'
    return [`## ${heading}`, lead, [head, ...lines].join('\n')].join('\n\n')
  })
  return tables.join('\n\n')
}

/** The page to which the `type` of every problem document points: `/errors#code`. */
export function errorsPage(t: Texts): Page {
  const [refusals, ...others] = errorSections(t)
  return {
    title: t('errors.title'),
    description: t('errors.description'),
    path: '/errors',
    main: html`<div class="prose">
<h1>${t('errors.title')}</h1>
<p class="lead">${t('errors.lead')}</p>
${refusals && listOf(refusals.rows, t)}
${others.map(
  ({ id, heading, lead, rows }) => html`<h2 id="${id}">${heading}</h2>
<p>${withCode(lead)}</p>
${listOf(rows, t)}
`,
)}
</div>`,
  }
}

function listOf(rows: readonly ErrorRow[], t: Texts): Html {
  const meanings = ['when', 'agent', 'operator'] as const
  return html`<dl class="cases">
${rows.map(
  (row) => html`<div id="${row.id}">
<dt><a href="#${row.id}"><code>${row.code}</code></a>${noteOf(row, t)}</dt>
${meanings.map((name) => html`<dd>${t(`errors.${name}`)}: ${withCode(row[name])}</dd>`)}
</div>
`,
)}</dl>`
}

function noteOf({ note, title, isRetryable }: ErrorRow, t: Texts): Html | undefined {
  if (note === undefined) return undefined
  return html` <small><span lang="en">${note} ${title}</span>${isRetryable && html`; ${t('errors.retryable')}`}</small>`
}

/** Text whose parts in backticks are code. */
function withCode(text: string): Html {
  const parts = text.split('`')
  return html`${parts.map((part, at) => (at % 2 === 1 ? html`<code>${part}</code>` : part))}`
}
