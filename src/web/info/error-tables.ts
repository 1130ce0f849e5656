import { textsIn } from '../texts/texts.ts'
import { codeOf, errorCodes, meaningOf, outcomeSections, ruleOf } from './error-codes.ts'

/** The language of documents and of models. */
const t = textsIn('en')

/** A table of Markdown, under the heading that names where its codes stand. */
export interface ErrorTable {
  readonly heading: string
  readonly lead: string
  readonly table: string
}

/** Everything that can go wrong, as tables of Markdown: for docs/agents/errors.md and for models. */
export function errorTables(): readonly ErrorTable[] {
  const refusals = errorCodes.map((code) => {
    const { when, agent, operator } = meaningOf(`error.${code}`, t)
    const { status, retryable } = ruleOf(code)
    return [code, noteOf(String(status), retryable), when, agent, operator]
  })
  const lead =
    'In the `code` of a problem document. *retryable* means that the very same request may succeed later.'
  return [
    { heading: 'Refusals', lead, table: tableOf(refusals) },
    ...outcomeSections.map(({ id, outcomes }) => {
      const rows = outcomes.map((outcome) => {
        const { when, agent, operator } = meaningOf(`outcome.${outcome.id}`, t)
        const { note = '', isRetryable } = outcome
        return [codeOf(outcome), noteOf(note, isRetryable), when, agent, operator]
      })
      return {
        heading: t(`outcome.${id}.heading`),
        lead: t(`outcome.${id}.lead`),
        table: tableOf(rows),
      }
    }),
  ]
}

function noteOf(note: string, isRetryable = false): string {
  return isRetryable ? `${note}, retryable` : note
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(([code, note, ...t]) => `| ${[`\`${code}\``, note, ...t].join(' | ')} |`)
  return [
    '| code | comes with | when | agent does | operator does |',
    '|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}
