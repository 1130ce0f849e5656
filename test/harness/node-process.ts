import { createWriteStream } from 'node:fs'
import { json } from 'node:stream/consumers'
import { type NodeSettings, startNode } from './node.ts'

/** The settings of a node's process. */
export interface NodeProcessSettings extends NodeSettings {
  /** The file that its log is appended to; without one, the log is discarded. */
  readonly logFile?: string
}

/**
 * A node in a process of its own, which a test can kill as a power cut would. It reads its settings from
 * standard input, prints `ready` when it listens, and ends with its parent at the latest.
 */
const parent = process.ppid
setInterval(() => {
  if (process.ppid !== parent) process.exit(1)
}, 500).unref()

const { logFile, receivers, ...node } = (await json(process.stdin)) as NodeProcessSettings
const log = logFile === undefined ? undefined : createWriteStream(logFile, { flags: 'a' })
// The resolver is a function, which cannot be passed as JSON.
const here = receivers && { ...receivers, resolve: async () => ['127.0.0.1'] }
await startNode({ ...node, receivers: here }, (line) => log?.write(line))
process.stdout.write('ready\n')
