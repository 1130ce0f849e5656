import type { Operation } from '../../api/operation.ts'

type Schema = Readonly<Record<string, unknown>>

/** One operation in Markdown: what it does, takes, answers and refuses. */
export function operationText(operation: Operation): string {
  const { method, path, name, description, answers, refusals, body } = operation
  const statuses = Object.entries(answers).map(
    ([status, answer]) => `- ${status}: ${answer.description}`,
  )
  const parts = [
    `### ${name}\n\n\`${method} ${path}\``,
    `${accessText(operation)} ${description}`,
    fieldTable('Parameters', parametersOf(operation)),
    body === undefined ? '' : fieldTable('Body', fieldsOf(body as Schema)),
    `Answers:\n\n${statuses.join('\n')}`,
    refusals.length === 0 ? '' : `May refuse with \`${refusals.join('`, `')}\`.`,
  ]
  return `${parts.filter((part) => part !== '').join('\n\n')}\n`
}

function accessText({ access }: Operation): string {
  if (access === 'free') return 'Free.'
  return access === 'sign_in' ? 'For a wallet that signs in (SIGN-IN-WITH-X).' : 'Paid over x402.'
}

interface Field {
  readonly name: string
  readonly where: string
  readonly required: boolean
  readonly schema: Schema
}

function parametersOf({ pathParams = {}, query = {}, headers = {} }: Operation): Field[] {
  const inPath = Object.entries(pathParams).map(([name, schema]) => {
    return { name, where: 'path', required: true, schema: schema as Schema }
  })
  const inQuery = Object.entries(query).map(([name, { schema }]) => {
    return { name, where: 'query', required: false, schema }
  })
  const inHeaders = Object.entries(headers).map(([name, { schema, required = false }]) => {
    return { name, where: 'header', required, schema: schema as Schema }
  })
  return [...inPath, ...inQuery, ...inHeaders]
}

function fieldsOf({ properties, required = [] }: Schema): Field[] {
  const names = required as readonly string[]
  return Object.entries(properties as Record<string, Schema>).map(([name, schema]) => {
    return { name, where: 'JSON', required: names.includes(name), schema }
  })
}

function fieldTable(title: string, fields: readonly Field[]): string {
  if (fields.length === 0) return ''
  const rows = fields.map(({ name, where, required, schema }) => {
    return `| \`${name}\` | ${where}${required ? ', required' : ''} | ${meaningOf(schema)} |`
  })
  return [`${title}:`, '', '| name | in | what it is |', '|---|---|---|', ...rows].join('\n')
}

/** A schema in words: type, bounds, values and what it stands for. */
function meaningOf(schema: Schema): string {
  const { type, description, minimum, maximum, default: fallback, pattern } = schema
  const values = schema['enum'] as readonly string[] | undefined
  const told = [
    type,
    bounds(minimum, maximum),
    fallback !== undefined && `default ${fallback}`,
    values !== undefined && `one of ${values.map((value) => `"${value}"`).join(', ')}`,
    description === undefined && pattern !== undefined && `matching \`${pattern}\``,
    description,
  ]
  return told.filter((part) => part !== undefined && part !== false && part !== '').join('; ')
}

function bounds(minimum: unknown, maximum: unknown): string {
  if (minimum === undefined) return ''
  return maximum === undefined ? `${minimum} or more` : `${minimum} to ${maximum}`
}
