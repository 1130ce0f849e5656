import { execFileSync } from 'node:child_process'

/**
 * Prints why tests are skipped: they need a program that this machine does not have. With
 * `LEAVE_NOTHING_OUT` it is an error, so that no test is skipped unnoticed where everything is installed.
 *
 * @param reason what is missing; undefined if nothing is
 */
export function leftOut(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined
  if (process.env['LEAVE_NOTHING_OUT']) throw new Error(reason)
  console.warn(`Left out here: ${reason}`)
  return reason
}

/** Whether a program is installed and succeeds with these arguments. */
export function works(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 60_000 })
    return true
  } catch {
    return false
  }
}
