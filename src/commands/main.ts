import { parseArgs } from 'node:util'
import packageJson from '../../package.json' with { type: 'json' }
import { ConfigError } from '../environment/environment.ts'
import { messageOf } from '../lib/errors.ts'
import { Refused } from '../operator/operator.ts'
import { type Act, type Context, type Place, type Result, UsageError, unknownWord } from './act.ts'
import { asOperator, describe, findSettings, personOf } from './settings.ts'

/** Loaded only when it is called for. In the order of the list that is shown. */
export const acts: Readonly<Record<string, () => Promise<Act>>> = {
  // Orders and people
  order: async () => (await import('./order.ts')).order,
  refund: async () => (await import('./refund.ts')).refund,
  person: async () => (await import('./person.ts')).person,

  // What is sold
  sales: async () => (await import('./selling.ts')).sales,
  price: async () => (await import('./selling.ts')).price,
  catalog: async () => (await import('./selling.ts')).catalog,

  // Whom the store does not sell to
  denylist: async () => (await import('./denylist.ts')).denylist,

  // Books

  reconcile: async () => (await import('./reconcile.ts')).reconcileAct,
  export: async () => (await import('./export.ts')).exportAct,
  audit: async () => (await import('./audit.ts')).audit,

  // The machine
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./backup.ts')).restore,
  doctor: async () => (await import('./doctor.ts')).doctor,
}

const common = `
Options of every act:
  --json           one JSON value instead of text
  --dry-run        says what it would do, and changes nothing
  --as NAME        who is on record for it; otherwise who called sudo, or this account
  --settings FILE  the settings of the store, with its secrets in the folder "secrets" beside the file;
                   otherwise those of the environment, /etc/kiosk402/store.env, or the sandbox in ./data
  --help           the help of an act, with examples
  --version

Exit code 0: done, nothing differs. 1: refused, or something differs. 2: it could not be run, or a part did
not answer.`

const flag = { type: 'boolean' } as const
const value = { type: 'string' } as const
const options = {
  ...{ json: flag, 'dry-run': flag, help: flag, version: flag },
  ...{ as: value, settings: value },
}

interface CommandLine {
  readonly name: string | undefined
  readonly args: readonly string[]
  readonly given: ReadonlyMap<string, string | undefined>
}

/** Takes the options of every act from anywhere before a `--`, and leaves the rest as it was. */
function read(argv: readonly string[]): CommandLine {
  const { tokens } = parseArgs({
    ...{ args: [...argv], options, strict: false, allowPositionals: true, tokens: true },
  })
  const own = tokens
    .filter((token) => token.kind === 'option')
    .filter(({ name, rawName }) => Object.hasOwn(options, name) && rawName === `--${name}`)
  const taken = own.flatMap(({ index, value, inlineValue }) =>
    value === undefined || inlineValue ? [index] : [index, index + 1],
  )
  for (const { name, value } of own) {
    if ((name === 'as' || name === 'settings') && !value?.trim())
      throw new UsageError(`--${name} needs a value`)
  }
  const [name, ...args] = argv.filter((_, at) => !taken.includes(at))
  return { name, args, given: new Map(own.map(({ name, value }) => [name, value?.trim()])) }
}

async function run(line: CommandLine): Promise<Result> {
  const { name, args, given } = line
  if (given.has('version')) return said(packageJson.version, { version: packageJson.version })
  if (name === undefined) return list()
  const load = Object.hasOwn(acts, name) ? acts[name] : undefined
  if (!load) throw new UsageError(unknownWord(name, Object.keys(acts)))
  const act = await load()
  if (given.has('help')) return said(`${act.usage}\n${common}`, { usage: act.usage })
  const context = contextOf(name, line)
  if (context.isDryRun) context.tell('A dry run: nothing of this is kept.')
  return act.run(args, context)
}

function contextOf(act: string, { given }: CommandLine): Context {
  const [isDryRun, isJson] = [given.has('dry-run'), given.has('json')]
  const by = personOf(given.get('as'))
  const tell = (line: string) => console.error(printable(line))
  let found: ReturnType<typeof findSettings> | undefined
  // Reading them takes the secrets out of the environment, so it can be done once.
  const settings = () => {
    found ??= findSettings(given.get('settings'))
    return found
  }
  const tellStore = (store: Place) => tell(describe(store, settings().source))
  return {
    ...{ isDryRun, isJson, by, tell, tellStore },
    config: () => settings().config,
    async withOperator(work, setUp) {
      return asOperator(settings().config, { act, by, isDryRun, tellStore, setUp }, work)
    },
  }
}

async function list(): Promise<Result> {
  const listed = Object.entries(acts).map(async ([name, load]) => {
    const { summary } = await load()
    return { name, summary }
  })
  const all = await Promise.all(listed)
  const lines = all.map(({ name, summary }) => `  ${name.padEnd(12)}${summary}`)
  const usage = ['Usage: kiosk402 ACT, with the help of each: kiosk402 ACT --help', '', ...lines]
  return said(`${usage.join('\n')}\n${common}`, { acts: all })
}

function said(text: string, data: unknown): Result {
  return { exit: 0, data, lines: text.split('\n') }
}

/** Prints what an act says, and what keeps it from being done. Returns the exit code. */
export async function main(argv: readonly string[]): Promise<0 | 1 | 2> {
  let line: CommandLine | undefined
  try {
    line = read(argv)
    const { exit, data, lines } = await run(line)
    if (line.given.has('json')) printJson(data)
    else if (lines.length > 0) console.log(lines.map((one) => printable(one)).join('\n'))
    return exit
  } catch (error) {
    const { message, exit } = failureOf(error, line?.name)
    console.error(printable(message, '\n'))
    if (line?.given.has('json')) printJson({ error: message })
    return exit
  }
}

function printJson(data: unknown): void {
  const plain = (_: string, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value
  if (data === undefined) return
  console.log(JSON.stringify(data, plain, 2))
}

function failureOf(error: unknown, name = ''): { message: string; exit: 1 | 2 } {
  if (error instanceof Refused) return { message: error.message, exit: 1 }
  const command = Object.hasOwn(acts, name) ? `kiosk402 ${name}` : 'kiosk402'
  if (error instanceof UsageError) {
    return { message: `${withStop(error.message)} ${command} --help shows how.`, exit: 2 }
  }
  if (error instanceof ConfigError) {
    const problems = error.problems.map((problem) => `  - ${problem}`)
    return { message: ['The settings cannot be used:', ...problems].join('\n'), exit: 2 }
  }
  return { message: `${command} failed: ${withoutUrls(reasonOf(error))}`, exit: 2 }
}

const withStop = (sentence: string) => (/[.?]$/.test(sentence) ? sentence : `${sentence}.`)

/** Texts on record come from many hands, and control characters in one could steer a terminal or forge lines. */
function printable(text: string, kept = ''): string {
  const escaped = (sign: string) =>
    sign === kept ? sign : `\\u{${sign.codePointAt(0)?.toString(16)}}`
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped)
}

/** The errors of a database that is away have no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : error.name
  return messageOf(error) || `the database does not answer (${code})`
}

/** A URL may hold a key. */
function withoutUrls(message: string): string {
  return message.replace(/https?:\/\/\S+/g, '(its URL)')
}

if (import.meta.main) {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    // Whoever reads has read enough, as `head` does.
    process.exit()
  })
  process.exitCode = await main(process.argv.slice(2))
}
