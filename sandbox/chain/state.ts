import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { writePrivateFile } from '../private-file.ts'
import type { ChainClient } from './rpc.ts'

const unzip = promisify(gunzip)

/**
 * In milliseconds. Blocks in progress are usually complete after this. Otherwise the node finds their transactions a
 * second time in the block made here, takes them for invalid, and drops everything that their sender has sent since.
 */
const wholeMs = 100

/**
 * Saves the whole chain, with all blocks, receipts and logs, to a file from which the node can start. The node copies
 * its blocks first and its accounts afterwards. A block made in between would be missing from the dump: a payment
 * without its log. Blocks are made one after another, so the block made here comes after all that were in progress.
 *
 * @returns the newest block in the file
 */
export async function saveState(client: ChainClient, chainDir: string): Promise<bigint> {
  try {
    return await saveLastState(client, chainDir)
  } finally {
    await client.setAutomine(true)
  }
}

/** The same, for a node that is about to end: it makes no more blocks, so what it writes at its end is whole too. */
export async function saveLastState(client: ChainClient, chainDir: string): Promise<bigint> {
  await client.setAutomine(false)
  await delay(wholeMs)
  for (;;) {
    await client.mine({ blocks: 1 })
    const head = await client.getBlockNumber()
    const dump = await client.dumpState()
    if ((await client.getBlockNumber()) !== head) continue
    await writePrivateFile(stateFileIn(chainDir), await unzip(Buffer.from(dump.slice(2), 'hex')))
    return head
  }
}

export function stateFileIn(chainDir: string): string {
  return join(chainDir, 'state.json')
}
