import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

export interface Example {
  /** Its name among the examples of its operation; for a refusal, the code. */
  readonly name: string
  readonly summary: string
  readonly status: number
  readonly sent?: unknown
  readonly body: unknown
}

/** By operation: all successes, and the refusals that no earlier operation has an example of. */
export type Recorded = Readonly<Record<string, readonly Example[]>>

const file = new URL('examples.json', import.meta.url)

export function readExamples(): Recorded {
  return JSON.parse(readFileSync(file, 'utf8'))
}

/** Writes JSON as Biome formats it, with each value that fits into a line on one line, so that it can be reviewed. */
export function writeJson(to: URL, value: unknown): void {
  const format = ['biome', 'format', '--stdin-file-path=file.json']
  const text = execFileSync('npx', format, { input: JSON.stringify(value), maxBuffer: 1e8 })
  writeFileSync(to, text)
}

export function writeExamples(recorded: Recorded): void {
  writeJson(file, withoutRepeats(recorded))
}

function withoutRepeats(recorded: Recorded): Recorded {
  const known = new Set<string>()
  const kept = Object.entries(recorded).map(([id, examples]): [string, readonly Example[]] => [
    id,
    examples
      .filter((example) => example.status < 400 || isNew(known, refusalKey(example)))
      .map(shortened),
  ])
  return Object.fromEntries(kept)
}

function isNew(known: Set<string>, key: string): boolean {
  const before = known.size
  return known.add(key).size > before
}

/** Errors of the discovery interface have another form, without a code, so they get examples of their own. */
export function refusalKey({ name, body }: Pick<Example, 'name' | 'body'>): string {
  const isProblem = typeof body === 'object' && body !== null && 'requestId' in body
  return isProblem ? name : `${name} of discovery`
}

const maxEntries = 3

function shortened(example: Example): Example {
  const body = cut(example.body)
  if (JSON.stringify(body) === JSON.stringify(example.body)) return example
  return { ...example, summary: `${example.summary} (lists cut to ${maxEntries} entries)`, body }
}

function cut(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, maxEntries).map(cut)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, cut(part)]))
}
