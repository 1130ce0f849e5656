import { hostname, userInfo } from 'node:os'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { ConfigError } from '../environment/environment.ts'
import { messageOf } from '../lib/error-text.ts'

/** The command line is wrong. The message says what is wrong with it. */
export class UsageError extends Error {}

/** Node's `parseArgs`. @throws UsageError */
export function parsed<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/**
 * The account that runs the command, and its machine. A container may run as a user id without an account.
 */
export function operatorName(account: () => { readonly username: string } = userInfo): string {
  try {
    return `${account().username}@${hostname()}`
  } catch {
    return `uid ${process.getuid?.()}@${hostname()}`
  }
}

type ExitCode = 0 | 1 | 2

/** A command for a person at a terminal. */
interface Command {
  readonly name: string
  readonly usage: string
  /** Gives the exit code; 0: done. @throws UsageError if the command line is wrong */
  readonly main: (args: readonly string[]) => Promise<ExitCode>
  /** The exit code when `main` throws; 1 if absent. It is 2 if the command line is wrong. */
  readonly failed?: ExitCode
}

/** Runs a command to its exit code, or shows its usage for `--help`, and tells the person what failed. */
export async function runCommand({ name, usage, main, failed = 1 }: Command): Promise<void> {
  const args = process.argv.slice(2)
  if (args.includes('--help')) return console.log(usage)
  process.exitCode = await main(args).catch((error: unknown) => {
    if (error instanceof UsageError) {
      console.error(`${error.message}.\n\n${usage}`)
      return 2
    }
    if (error instanceof ConfigError) console.error(error.message)
    else console.error(`The ${name} command failed: ${withoutUrls(reasonOf(error))}`)
    return failed
  })
}

/** PostgreSQL's codes for an unknown table, column and function. */
const missing = ['42P01', '42703', '42883']

/** Why it failed, for a person. The errors of a database that is away have no message. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const code = 'code' in error ? String(error.code) : error.name
  if (missing.includes(code)) {
    return 'the database was not set up by this version of the store. Start the store on it first.'
  }
  return error.message || `the database does not answer (${code})`
}

/** A URL may hold a key. */
function withoutUrls(message: string): string {
  return message.replace(/https?:\/\/\S+/g, '(its URL)')
}
