import { createWriteStream } from 'node:fs'
import type { NodeSettings } from './node.ts'
import { startNode } from './node.ts'

/** What a node's process is told. */
export interface NodeProcessSettings extends NodeSettings {
  /** Where its log goes, after what is there; nowhere when it is left out. */
  readonly logFile?: string
}

/**
 * A node in a process of its own, which can be killed as by a power cut. Its settings come on
 * standard input; it says `ready` when it listens, and ends with its parent at the latest.
 */
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit(1)
}, 500).unref()

const chunks: Buffer[] = []
for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
const settings = JSON.parse(Buffer.concat(chunks).toString()) as NodeProcessSettings
const { logFile, receivers, ...node } = settings
const log = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' })
// How names are resolved is a function, which does not come with the settings.
const here = receivers && { ...receivers, resolve: async () => ['127.0.0.1'] }
await startNode({ ...node, receivers: here }, (line) => log?.write(line))
process.stdout.write('ready\n')
