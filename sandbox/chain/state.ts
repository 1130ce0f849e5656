import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import { writePrivateFile } from '../private-file.ts'
import type { ChainClient } from './rpc.ts'

const unzip = promisify(gunzip)

/**
 * Keeps the whole chain, with all blocks, receipts and logs, in a file that the node can begin
 * from. The node could write such a file itself, but does so in place: killed while it writes it
 * leaves a part, from which it does not start again.
 *
 * @returns the newest block that is in the file
 */
export async function saveState(client: ChainClient, chainDir: string): Promise<bigint> {
  try {
    return await saveLastState(client, chainDir)
  } finally {
    await client.setAutomine(true)
  }
}

/** Keeps the chain of a node that is ended next: it puts nothing into blocks any more. */
export async function saveLastState(client: ChainClient, chainDir: string): Promise<bigint> {
  await client.setAutomine(false)
  const { head, dump } = await dumpBetweenBlocks(client)
  await writePrivateFile(stateFileIn(chainDir), await unzip(Buffer.from(dump.slice(2), 'hex')))
  return head
}

/**
 * Blocks under way are usually whole after this. Otherwise the node finds their transactions a second
 * time in the one that is made here, takes them for invalid, and drops what their sender sent since.
 */
const wholeMs = 100

/**
 * The node copies its blocks first and its accounts after that, and a block made in between would be
 * missing from what it gives: a payment made, and no log of it. Blocks are made one after another, so
 * the one that is made here comes after all that were under way.
 */
async function dumpBetweenBlocks(client: ChainClient) {
  await delay(wholeMs)
  for (;;) {
    await client.mine({ blocks: 1 })
    const head = await client.getBlockNumber()
    const dump = await client.dumpState()
    if ((await client.getBlockNumber()) === head) return { head, dump }
  }
}

export function stateFileIn(chainDir: string): string {
  return join(chainDir, 'state.json')
}
