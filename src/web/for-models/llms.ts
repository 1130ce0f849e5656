import { groups, type Operation } from '../../api/operation.ts'
import { operations } from '../../api/operations.ts'
import { errorTables } from '../info/error-tables.ts'
import type { ModelPageDeps } from './deps.ts'
import { operationText } from './operation-text.ts'
import { skillPage } from './skill.ts'

const groupTexts: Readonly<Record<Operation['group'], string>> = {
  Discovery: 'Search everything that is on sale. Free, without a key.',
  Catalog: 'The same goods with exact prices in USDC and what buying them takes. Free.',
  Buying: 'GET quotes for free; POST buys and is paid over x402.',
  Orders: 'What became of a purchase, and of its refund.',
  Store: 'What the store says of itself.',
}

/** The map of the store for models, in the form of llmstxt.org. */
export function llmsPage({ site, networkName }: ModelPageDeps): string {
  const link = (name: string, path: string, text: string) =>
    `- [${name}](${site.url}${path}): ${text}`
  return `# ${site.name}

> ${site.description} For software agents, without an account: search for free, pay each purchase in USDC on ${networkName} over x402, get the goods in the answer. What is paid and not delivered goes back by itself.

Read the skill first: it is one page and enough to buy something.

## Start

${link('Skill', '/SKILL.md', 'how to search, pay, look again and be paid back')}
${link('Everything', '/llms-full.txt', 'the skill, every operation and every error in one text')}
${link('OpenAPI', '/openapi.json', 'every operation with schemas and real examples')}
${link('Manifest', '/.well-known/x402', 'resources, fulfillment and refund policy, and whether the store sells just now')}
${link('MCP', '/mcp', 'the same as tools, over streamable HTTP')}
${link('Errors', '/errors', 'every code: when it comes, what to do')}
${link('Keys', '/.well-known/jwks.json', 'what receipts are signed with')}

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

Paths are below ${deps.site.url}. Answers are JSON. Parameters that are unknown, repeated or out of range are refused, never ignored.

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

function operationLine({ method, path, name, description }: Operation): string {
  const [first = ''] = description.split(/(?<=\.)\s/, 1)
  return `\`${method} ${path}\` ${name}: ${first}`
}

function filledGroups() {
  return groups
    .map((group) => [group, operations.filter((operation) => operation.group === group)] as const)
    .filter(([, members]) => members.length > 0)
}
