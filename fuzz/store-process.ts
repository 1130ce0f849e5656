import { type NodeSettings, startNode } from '../test/harness/node.ts'

/** What the fuzzer asks of the store's process, and what it is told. */
export type Ask =
  | { readonly start: NodeSettings; readonly secrets: readonly string[] }
  | { readonly secrets: readonly string[] }
  | { readonly measure: true }
export type Told =
  | { readonly ready: true }
  | { readonly line: string }
  | { readonly heapBytes: number; readonly rssBytes: number }

/** Log lines of this level or above tell of something that went wrong (pino's warn). */
const warning = 40

/**
 * A store in a process of its own that reads its own log: a line that holds a secret, or tells of
 * something that went wrong, is passed on. It ends with its parent.
 */
let secrets: readonly string[] = []
process.on('message', async (ask: Ask) => {
  if ('secrets' in ask) secrets = ask.secrets
  if ('start' in ask) {
    await startNode(ask.start, watch)
    tell({ ready: true })
  }
  if ('measure' in ask) tell(await measured())
})
process.on('disconnect', () => process.exit(0))

function watch(line: string): void {
  const level = Number(/^\{"level":(\d+)/.exec(line)?.[1] ?? warning)
  if (level >= warning || secrets.some((secret) => line.includes(secret))) tell({ line })
}

/** After the garbage is collected, twice, because what was finalised is only then given back. */
async function measured(): Promise<Told> {
  for (let round = 0; round < 2; round += 1) {
    globalThis.gc?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { heapUsed, rss } = process.memoryUsage()
  return { heapBytes: heapUsed, rssBytes: rss }
}

function tell(told: Told): void {
  process.send?.(told)
}
