import { type NodeSettings, startNode } from '../test/harness/node.ts'

/** The messages from the fuzzer to the store's process, and back. */
export type Ask =
  | { readonly start: NodeSettings; readonly secrets: readonly string[] }
  | { readonly secrets: readonly string[] }
  | { readonly measure: true }
export type Told =
  | { readonly ready: true }
  | { readonly line: string }
  | { readonly heapBytes: number; readonly rssBytes: number }

/** Log lines of this level or above report that something went wrong (`warn` of pino). */
const warning = 40

/**
 * A store in a process of its own that reads its own log, and passes on lines that contain a secret or report
 * that something went wrong. It ends with its parent.
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

/** Memory after two garbage collections, because finalised objects are only freed by the second. */
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
