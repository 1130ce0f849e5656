import { hostname, userInfo } from 'node:os'
import { type ParseArgsConfig, parseArgs } from 'node:util'
import { ConfigError } from '../environment/environment.ts'
import { reasonOf } from './store-database.ts'

/** The command line is wrong. The message says what is wrong with it. */
export class UsageError extends Error {}

/** Node's `parseArgs`. @throws UsageError */
export function parsed<T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
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

/** A command of the operator. */
interface Command {
  readonly name: string
  readonly usage: string
  /** 0: done. 1: it failed. @throws UsageError if the command line is wrong */
  readonly main: (args: readonly string[]) => Promise<0 | 1>
}

/** Runs a command to its exit code, which is 2 if the command line is wrong, and tells the operator what failed. */
export async function runCommand({ name, usage, main }: Command): Promise<void> {
  process.exitCode = await main(process.argv.slice(2)).catch((error: unknown) => {
    if (error instanceof UsageError) {
      console.error(`${error.message}.\n\n${usage}`)
      return 2
    }
    if (error instanceof ConfigError) console.error(error.message)
    else console.error(`The ${name} command failed: ${reasonOf(error)}`)
    return 1
  })
}
