import { readFileSync, writeFileSync } from 'node:fs'

/** A real answer, with what was asked. */
export interface Example {
  /** Its name among the examples of its operation: a refusal has its code. */
  readonly name: string
  readonly summary: string
  readonly status: number
  /** Of a refusal, and of a payment that was not taken. */
  readonly code?: string
  /** The JSON that was sent, where it was JSON. */
  readonly sent?: unknown
  readonly body: unknown
}

/** The examples of each operation, by its id. */
export type Recorded = Readonly<Record<string, readonly Example[]>>

const file = new URL('examples.json', import.meta.url)

/** What `npm run openapi` recorded last. */
export function readExamples(): Recorded {
  return JSON.parse(readFileSync(file, 'utf8'))
}

export function writeExamples(recorded: Recorded): void {
  writeFileSync(file, `${JSON.stringify(recorded, null, 2)}\n`)
}
