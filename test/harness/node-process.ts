import type { NodeSettings } from './node.ts'
import { startNode } from './node.ts'

/**
 * A node in a process of its own, which a story can kill as a power cut would. Its settings come on
 * standard input; it says `ready` when it listens, and ends with its parent at the latest.
 */
const chunks: Buffer[] = []
for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
const settings = JSON.parse(Buffer.concat(chunks).toString()) as NodeSettings
await startNode(settings, () => {})
process.stdout.write('ready\n')
setInterval(() => {
  if (process.ppid === 1) process.exit(1)
}, 500).unref()
