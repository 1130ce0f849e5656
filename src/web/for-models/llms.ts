import { groups, type Operation, refusalsOf } from '../../api/operation.ts'
import { operations } from '../../api/operations.ts'
import { searchPath } from '../../api/paths.ts'
import { errorTables } from '../info/error-codes.ts'
import { type ModelPageDeps, skillPage } from './skill.ts'

const groupTexts: Readonly<Record<Operation['group'], string>> = {
  Discovery: 'Search the whole catalog. Free, without a key.',
  Catalog: 'The same offers with exact prices in USDC and the fields that a purchase needs. Free.',
  Buying: 'GET quotes for free. POST buys, paid over x402.',
  Orders: 'The state of a purchase and of its refund.',
  Store: 'About the store itself.',
}

/** The map of the store for models, in the form of llmstxt.org. */
export function llmsPage({ site, networkName }: ModelPageDeps): string {
  const link = (name: string, path: string, text: string) =>
    `- [${name}](${site.url}${path}): ${text}`
  return `# ${site.name}

> ${site.description} For software agents, without an account: search for free, pay each purchase in USDC on ${networkName} over x402, and get the goods in the response. If a paid order is not delivered, it is refunded automatically.

Read the skill first: one page, and enough to buy something.

## Start

${link('Search', `${searchPath}?query=esim+japan+10gb&limit=3`, 'one query in plain words over the whole catalog')}
${link('Skill', '/SKILL.md', 'how to search, pay, follow an order and get a refund')}
${link('Everything', '/llms-full.txt', 'the skill, every operation and every error in one text')}
${link('OpenAPI', '/openapi.json', 'every operation with schemas and real examples')}
${link('Manifest', '/.well-known/x402', 'resources, fulfillment and refund policy, and whether the store is selling now')}
${link('MCP', '/mcp', 'the same as tools, over streamable HTTP')}
${link('Errors', '/errors', 'every code: what causes it, and what to do')}
${link('Keys', '/.well-known/jwks.json', 'the keys that sign receipts')}

${filledGroups()
  .map(
    ([group, members]) => `## ${group}

${groupTexts[group]}

${members.map((operation) => `- ${operationLine(operation)}`).join('\n')}
`,
  )
  .join('\n')}`
}

/** Everything about the store in one text. */
export function llmsFullPage(deps: ModelPageDeps): string {
  const [, skill = ''] = skillPage(deps).split(/^---$[\s\S]*?^---$/m)
  return `${skill.trim()}

# Every operation

Paths are below ${deps.site.url}. Responses are JSON. Unknown, repeated or out-of-range parameters are refused, never ignored.

${filledGroups()
  .map(
    ([group, members]) => `## ${group}

${groupTexts[group]}

${members.map(operationText).join('\n')}`,
  )
  .join('\n')}
# Every error

${errorTables()
  .map(({ heading, lead, table }) => `## ${heading}\n\n${lead}\n\n${table}\n`)
  .join('\n')}`
}

/** One line about an operation; llms-full.txt describes it in full. */
function operationLine({ method, path, name }: Operation): string {
  return `\`${method} ${path}\` ${name}`
}

function filledGroups() {
  return groups
    .map((group) => [group, operations.filter((operation) => operation.group === group)] as const)
    .filter(([, members]) => members.length > 0)
}

type Schema = Readonly<Record<string, unknown>>

/** One operation in Markdown: what it does, takes, answers and refuses. */
function operationText(operation: Operation): string {
  const { method, path, name, description, answers, body } = operation
  const refusals = refusalsOf(operation)
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
  return access === 'sign_in' ? 'For a signed-in wallet (SIGN-IN-WITH-X).' : 'Paid over x402.'
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
  return [`${title}:`, '', '| name | in | meaning |', '|---|---|---|', ...rows].join('\n')
}

/** A schema in words: its type, bounds, values and description. */
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
