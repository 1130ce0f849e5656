import { parseArgs } from 'node:util'
import { type Examined, examine } from './examine.ts'
import type { Finding } from './faults.ts'

const usage = `Looks at a running store as a buyer or an index would meet it, and never pays.

  npm run doctor -- URL [--public URL] [--metrics] [--json]

  URL            the address to examine, such as https://shop.example
  --public URL   the address that buyers use, when that is another one
  --metrics      of a store of your own: reads /metrics as well, with METRICS_TOKEN
  --json         one JSON object instead of text

Exit code 0 when nothing would stop a buyer, 1 when something would, 2 when it could not be run.
Everything that can be found is listed in docs/operators/doctor.md.`

const titles = { stop: 'Stops buyers', warn: 'Costs buyers or listings', note: 'Missing' } as const

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<0 | 1 | 2> {
  if (args.includes('--help')) {
    console.log(usage)
    return 0
  }
  try {
    const { origin, publicOrigin, metrics, json } = readArguments(args)
    const examined = await examine(origin, publicOrigin, metrics)
    const ok = examined.findings.every(({ level }) => level !== 'stop')
    const object = { store: origin, public: publicOrigin, ok, ...examined }
    console.log(json ? JSON.stringify(object) : textOf(origin, examined, ok))
    return ok ? 0 : 1
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : error}\n\n${usage}`)
    return 2
  }
}

/** @throws Error with a sentence that names the wrong argument */
function readArguments(args: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      public: { type: 'string' },
      metrics: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const [url, ...more] = positionals
  if (url === undefined) throw new Error('Name the store: its URL is missing.')
  if (more.length > 0) throw new Error(`One store at a time; ${more[0]} is one too many.`)
  const origin = originOf(url)
  const publicOrigin = originOf(values.public ?? origin)
  const metrics = values.metrics ? { token: process.env['METRICS_TOKEN'] } : undefined
  return { origin, publicOrigin, metrics, json: values.json }
}

function originOf(text: string): string {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Error(`${text} is no http or https URL, such as https://shop.example.`)
  if (url.username !== '' || url.password !== '')
    throw new Error('Leave user name and password out of the URL.')
  return url.origin
}

function textOf(origin: string, { findings, operations }: Examined, ok: boolean): string {
  const groups = (['stop', 'warn', 'note'] as const).flatMap((level) => {
    const found = findings.filter((finding) => finding.level === level)
    return found.length === 0 ? [] : [`\n${titles[level]}:`, ...grouped(found)]
  })
  const verdict = ok
    ? 'Nothing would stop a buyer.'
    : 'A buyer would be stopped; the first group above says where.'
  const looked = `Looked at ${origin}: ${operations.join(', ') || 'no paid operation'}`
  return [looked, ...groups, '', verdict].join('\n')
}

/** Each fault once, with its fix and its places. */
function grouped(findings: readonly Finding[]): string[] {
  return [...Map.groupBy(findings, ({ code }) => code)].flatMap(([code, all]) => {
    const [{ what, mend } = { what: '', mend: '' }] = all
    const places = all.map(({ where, seen }) => `      ${where}${seen ? `: ${seen}` : ''}`)
    return [`  ${code}: ${what}`, `    Fix: ${mend}`, ...places]
  })
}
