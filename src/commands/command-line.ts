import { hostname, userInfo } from 'node:os'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import type { Pool } from 'pg'
import { openDatabase } from '../adapters/storage/database.ts'
import { loadSandbox } from '../app/sandbox-parts.ts'
import { type Config, readConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import { ownEnvironment } from '../environment/secret-files.ts'
import { messageOf } from '../lib/errors.ts'

export class UsageError extends Error {}

/** Node's `parseArgs`. @throws UsageError */
export function parseArguments<T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** @param takes for each command its options, and `names` if it takes any @throws UsageError for anything else */
export function parseCommand<What extends string>(
  args: readonly string[],
  takes: Readonly<Record<What, readonly string[]>>,
) {
  const { values, positionals } = parseArguments({
    args: [...args],
    options: { reason: { type: 'string' }, all: { type: 'boolean' }, transfer: { type: 'string' } },
    allowPositionals: true,
  })
  const [what, ...names] = positionals
  if (what === undefined) throw new UsageError('Say what to do')
  const isKnown = (word: string): word is What => Object.hasOwn(takes, word)
  if (!isKnown(what)) throw new UsageError(`"${what}" is not known`)
  const stray = Object.keys(values).find((option) => !takes[what].includes(option))
  if (stray !== undefined) throw new UsageError(`--${stray} is not for ${what}`)
  if (names.length > 0 && !takes[what].includes('names')) {
    throw new UsageError(`${what} takes nothing else, and got ${names.join(', ')}`)
  }
  return { ...values, what, names, reason: values.reason?.trim() }
}

/** A container may run as a user id without an account. */
export function operatorName(account: () => { readonly username: string } = userInfo): string {
  try {
    return `${account().username}@${hostname()}`
  } catch {
    return `uid ${process.getuid?.()}@${hostname()}`
  }
}

type ExitCode = 0 | 1 | 2

interface Command {
  readonly name: string
  readonly usage: string
  readonly main: (args: readonly string[]) => Promise<ExitCode>
  /** When `main` throws; 1 if absent. */
  readonly failed?: ExitCode
}

export async function runCommand({ name, usage, main, failed = 1 }: Command): Promise<void> {
  const args = process.argv.slice(2)
  if (args.includes('--help')) return console.log(usage)
  process.exitCode = await main(args).catch((error: unknown) => {
    if (error instanceof UsageError) {
      console.error(`${error.message}.\n\n${usage}`)
      return 2
    }
    if (error instanceof ConfigError) console.error(error.message)
    else console.error(`The ${name} command failed: ${reasonOf(error).replace(urls, '(its URL)')}`)
    return failed
  })
}

/** Texts on record come from many hands, and control characters in one could steer a terminal or forge lines. */
export function printLines(lines: readonly string[]): void {
  const escaped = (sign: string) => `\\u{${sign.codePointAt(0)?.toString(16)}}`
  const printable = lines.map((line) => line.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, escaped))
  console.log(printable.join('\n'))
}

const missing = ['42P01', '42703', '42883']
/** A URL may hold a key. */
const urls = /https?:\/\/\S+/g

/** The errors of a database that is away have no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : error.name
  if (missing.includes(code)) {
    return 'the database was not set up by this version of the store. Start the store on it first.'
  }
  return error.message || `the database does not answer (${code})`
}

/** The database of the store that this environment starts, which in the sandbox may be the embedded one. */
export async function onDatabase<T>(
  command: string,
  work: (database: Pool, config: Config) => Promise<T>,
): Promise<T> {
  const config = readConfig(ownEnvironment(console.warn))
  const database = openDatabase(await databaseUrlOf(config), {
    applicationName: `kiosk402-${command}`,
    poolSize: 3,
    onError: () => undefined,
  })
  try {
    return await work(database, config)
  } finally {
    await database.end()
  }
}

async function databaseUrlOf(config: Config): Promise<string> {
  if (config.mode === 'live') return config.databaseUrl
  if (config.databaseUrl !== undefined) return config.databaseUrl
  const { runningSandbox } = await loadSandbox()
  const running = await runningSandbox(config.dataDir)
  if (running) return running.databaseUrl
  throw new ConfigError([
    `DATA_DIR ${config.dataDir} has no running store; start it first, or name another folder`,
  ])
}
