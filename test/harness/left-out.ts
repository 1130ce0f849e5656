import { execFileSync } from 'node:child_process'

/**
 * Says why tests are left out: they need what this machine does not have. Where everything was
 * installed for them, `LEAVE_NOTHING_OUT` makes it an error, so that no test is lost unnoticed.
 *
 * @param reason what is missing; undefined where nothing is
 */
export function leftOut(reason: string | undefined): string | undefined {
  if (reason === undefined) return undefined
  if (process.env['LEAVE_NOTHING_OUT']) throw new Error(reason)
  console.warn(`Left out here: ${reason}`)
  return reason
}

/** Whether a program is there, and does what this call asks of it. */
export function works(command: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(command, args, { stdio: 'ignore', timeout: 60_000 })
    return true
  } catch {
    return false
  }
}
