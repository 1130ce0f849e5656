import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, relative } from 'node:path'
import * as z from 'zod'
import { faults } from '../doctor/faults.ts'
import { groups, secretVariables, sharedVariables } from '../src/environment/environment.ts'
import { aboutOf } from '../src/environment/variable.ts'
import { metrics } from '../src/operations/metric-list.ts'
import { events } from '../src/operations/reporter.ts'
import { differences } from '../src/reconcile/differences.ts'
import { errorSections, errorTables } from '../src/web/info/error-codes.ts'
import { textsIn } from '../src/web/texts/texts.ts'
import { alerts } from './alerts.ts'

/** The generated parts of the documents, by the name in their markers. */
const blocks: Readonly<Record<string, () => string>> = {
  variables: () =>
    groups.map(({ title, shape }) => `### ${title}\n\n${variablesIn(shape)}`).join('\n\n'),
  secrets: () => namesOf(secretVariables),
  'shared settings': () => namesOf(sharedVariables),
  metrics: () =>
    table(
      ['metric', 'type', 'labels', 'meaning'],
      Object.entries(metrics).map(([name, { type, labels, help, note }]) => [
        code(name),
        type,
        labels.map(code).join(', '),
        note === undefined ? help : `${help} ${note}`,
      ]),
    ),
  alerts: () =>
    Object.entries(alerts())
      .map(([name, { severity, after, why, mend }]) => {
        const act = severity === 'critical' ? 'Now' : 'Today'
        const when = after === undefined ? act : `${act}, after ${after}`
        return `### ${name}\n\n${when}. ${why}\n\n**Do:** ${mend}`
      })
      .join('\n\n'),
  events: () =>
    table(
      ['event', 'level', 'meaning, and what to do'],
      Object.entries(events).map(([name, { level, help }]) => [
        code(name),
        level === 'error' ? '50' : '40',
        help,
      ]),
    ),
  errors: errorTables,
  'refund faults': () =>
    table(
      ['code', 'what you do'],
      errorSections(textsIn('en'))
        .filter(({ id }) => id === 'refunds')
        .flatMap(({ rows }) => rows)
        .map((row) => [code(row.code), row.operator]),
    ),
  differences: () =>
    table(
      ['code', 'what it means', 'what to do'],
      Object.entries(differences).map(([name, { what, act }]) => [code(name), what, act]),
    ),
  'doctor faults': () =>
    table(
      ['code', 'level', 'what', 'fix'],
      Object.entries(faults).map(([name, { level, what, mend }]) => [
        code(name),
        level,
        what,
        mend,
      ]),
    ),
}

/** The text of each document with its generated parts, by path. */
export function generatedDocuments(): Readonly<Record<string, string>> {
  const pages = globSync('docs/**/*.md').map((page) => [page, filled(page)])
  return { ...Object.fromEntries(pages), '.env.example': exampleEnvironment() }
}

function filled(page: string): string {
  return readFileSync(page, 'utf8').replaceAll(
    /(<!-- generated: ([\w ]+) -->\n).*?(<!-- \/generated -->)/gs,
    (_, begin: string, name: string, end: string) =>
      `${begin}\n${linkedFrom(page, blocks[name]?.() ?? '')}\n\n${end}`,
  )
}

/** Makes links relative to the page: the code names documents by their path in the repository. */
function linkedFrom(page: string, text: string): string {
  return text.replaceAll(/(?<=\]\()docs\/[^)#]*/g, (path) => relative(dirname(page), path))
}

const code = (text: string) => `\`${text}\``
const namesOf = (names: readonly string[]) => names.map(code).join(', ')

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')
}

type Shape = (typeof groups)[number]['shape']

interface Read {
  readonly default?: unknown
  readonly minimum?: number
  readonly maximum?: number
}

/** The variables of a group, from their schemas and their documentation. */
function variablesOf(shape: Shape) {
  return Object.entries(shape).map(([name, schema]) => {
    const read = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Read
    const about = aboutOf(schema)
    if (about === undefined) throw new Error(`${name} has no documentation`)
    const { minimum, maximum } = read
    const range = minimum === undefined ? undefined : `${minimum} to ${maximum}`
    return { name, about, range, fallback: read.default }
  })
}

function variablesIn(shape: Shape): string {
  const rows = variablesOf(shape).map(({ name, about, range, fallback }) => {
    const given = fallback === undefined ? 'required' : code(String(fallback))
    const unset = about.unset ?? given
    return [code(name), range ? `${unset} (${range})` : unset, about.description]
  })
  return table(['variable', 'default', 'meaning'], rows)
}

const head = `# Every variable of the store; docs/operators/configuration.md says more about each.
# Copy this file to .env, uncomment what you set, and start with:
#
#   scripts/run --env-file=.env src/main.ts
#
# The sandbox needs none of them. A variable without a value counts as not set. Close this file to other
# accounts (chmod 600 .env). Every secret can be a file instead: GAS_KEY_FILE names the file with GAS_KEY.
`

function exampleEnvironment(): string {
  const sections = groups.map(({ title, shape }) => {
    const lines = variablesOf(shape).map(({ name, about, range, fallback = '' }) => {
      const [first = ''] = about.description.split(/(?<=\.) (?=[A-Z`])/)
      const plain = first.replaceAll(/ \(\[[^\]]*\]\([^)]*\)\)|\[([^\]]*)\]\([^)]*\)/g, '$1')
      const said = comment(range ? `${plain} ${range}.` : plain)
      return `${said}\n#${name}=${about.example ?? (Array.isArray(fallback) ? '' : fallback)}`
    })
    return `# --- ${title} ${'-'.repeat(94 - title.length)}\n\n${lines.join('\n')}\n`
  })
  return [head, ...sections].join('\n')
}

/** Wraps the text into comment lines of at most 100 characters. */
function comment(text: string): string {
  return text.replaceAll(/(.{1,98})(?: |$)/g, '# $1\n').trimEnd()
}

if (process.argv[1] === import.meta.filename) {
  for (const [file, text] of Object.entries(generatedDocuments())) writeFileSync(file, text)
}
