import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { writePrivateFile } from '../private-file.ts'
import type { ChainClient } from './rpc.ts'

const unzip = promisify(gunzip)

/**
 * Keeps the whole chain, with all blocks, receipts and logs, in a file that the node can begin
 * from. The node could write such a file itself, but does so in place: killed while it writes it
 * leaves a part, from which it does not start again.
 */
export async function saveState(client: ChainClient, chainDir: string): Promise<void> {
  const dump = await client.dumpState()
  await writePrivateFile(stateFileIn(chainDir), await unzip(Buffer.from(dump.slice(2), 'hex')))
}

export function stateFileIn(chainDir: string): string {
  return join(chainDir, 'state.json')
}
