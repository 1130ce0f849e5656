import { readFileSync } from 'node:fs'
import * as z from 'zod'

/**
 * Reads the environment, and the file of variables that SETTINGS_FILE names, by a schema. Exits the process with a
 * sentence for each invalid variable.
 *
 * @param name of the program in that message, such as "sandbox supplier"
 */
export function readEnvironment<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
): z.infer<Schema> {
  // An empty variable counts as not set.
  const file = process.env['SETTINGS_FILE']
  const settings = file ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const given = Object.entries({ ...process.env, ...settings }).filter(([, value]) => value !== '')
  const checked = schema.safeParse(Object.fromEntries(given))
  if (checked.success) return checked.data
  console.error(`The ${name} cannot start.\n${z.prettifyError(checked.error)}`)
  process.exit(1)
}

/** Prints a line of JSON that the server is ready, and stops the server on SIGTERM or SIGINT. */
export function announce(server: { readonly port: number; stop(): Promise<void> }): void {
  console.log(JSON.stringify({ ready: true, port: server.port, pid: process.pid }))
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      server.stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error)
          process.exit(1)
        },
      )
    })
  }
}

/** A variable with a whole number from 0 to `max`. */
export function count(fallback: number, max: number) {
  return z.coerce.number().int().min(0).max(max).default(fallback)
}
