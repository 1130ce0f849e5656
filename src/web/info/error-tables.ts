import { internalRule, type Rule, rules } from '../../api/refusals.ts'
import { type ErrorCode, errorTexts } from '../texts/en/error-codes.ts'
import { outcomeSections } from '../texts/en/outcomes.ts'

/** Every code of a problem document, in the order of the tables; their type makes them complete. */
export function errorCodes(): ErrorCode[] {
  return Object.keys(errorTexts) as ErrorCode[]
}

/** The status and the title that a code comes with. */
export function ruleOf(code: ErrorCode): Rule {
  return code === 'internal_error' ? internalRule : rules[code]
}

/** A table of Markdown, under the heading that names where its codes stand. */
export interface ErrorTable {
  readonly heading: string
  readonly lead: string
  readonly table: string
}

/** Everything that can go wrong, as tables of Markdown: for docs/errors.md and for models. */
export function errorTables(): readonly ErrorTable[] {
  const refusals = errorCodes().map((code) => {
    const { when, agent, operator } = errorTexts[code]
    const { status, retryable } = ruleOf(code)
    return [code, `${status}${retryable ? ', retryable' : ''}`, when, agent, operator]
  })
  const lead =
    'In the `code` of a problem document. *retryable* means that the very same request may succeed later.'
  return [
    { heading: 'Refusals', lead, table: tableOf(refusals) },
    ...outcomeSections.map(({ heading, lead, outcomes }) => {
      const rows = outcomes.map(({ code, note = '', when, agent, operator }) => {
        return [code, note, when, agent, operator]
      })
      return { heading, lead, table: tableOf(rows) }
    }),
  ]
}

function tableOf(rows: readonly (readonly string[])[]): string {
  const lines = rows.map(
    ([code, note, ...texts]) => `| ${[`\`${code}\``, note, ...texts].join(' | ')} |`,
  )
  return [
    '| code | comes with | when | agent does | operator does |',
    '|---|---|---|---|---|',
    ...lines,
  ].join('\n')
}
