import { readFileSync } from 'node:fs'
import * as z from 'zod'

/**
 * What the environment says, and the file of variables that SETTINGS_FILE names, by a schema. Ends the process with a sentence for each variable that
 * is wrong.
 *
 * @param name for that sentence: "The sandbox supplier cannot start"
 */
export function readEnvironment<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
): z.infer<Schema> {
  // A variable that is set to nothing is not set.
  const file = process.env['SETTINGS_FILE']
  const settings = file ? JSON.parse(readFileSync(file, 'utf8')) : {}
  const given = Object.entries({ ...process.env, ...settings }).filter(([, value]) => value !== '')
  const checked = schema.safeParse(Object.fromEntries(given))
  if (checked.success) return checked.data
  console.error(`The ${name} cannot start.\n${z.prettifyError(checked.error)}`)
  process.exit(1)
}

/** Says in a line of JSON that a server is ready, and stops it when the process is told to end. */
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

/** A whole number from 0 in a variable. */
export function count(fallback: number, max: number) {
  return z.coerce.number().int().min(0).max(max).default(fallback)
}
