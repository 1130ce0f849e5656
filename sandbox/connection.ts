import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as z from 'zod'
import { readFileIfThere, writePrivateFile } from './private-file.ts'
import { identify, isAlive } from './process.ts'
import type { SandboxParts } from './sandbox.ts'

const record = z.object({
  process: z.object({ pid: z.int(), birth: z.string() }),
  secretsKey: z.base64(),
  /** Not validated further: the same version of this program wrote it. */
  parts: z.custom<Omit<SandboxParts, 'secretsKey'>>((value) => typeof value === 'object'),
})

/**
 * Writes a file that tells the operator's commands how to reach the parts of the store in this folder. It contains
 * keys, like the files beside it, so only its owner may read it.
 */
export async function writeConnection(dataDir: string, parts: SandboxParts): Promise<void> {
  const { secretsKey, databaseUrl, chain, supplier, btcpay } = parts
  const { rpcUrl, chainId, usdc, keys } = chain
  const { url, ratesUrl, apiKey, webhook } = supplier
  const { storeId, webhookSecret } = btcpay
  const shared = {
    databaseUrl,
    chain: { rpcUrl, chainId, usdc, keys },
    supplier: { url, ratesUrl, apiKey, webhook },
    btcpay: { url: btcpay.url, storeId, apiKey: btcpay.apiKey, webhookSecret },
  }
  const holder = identify(process.pid)
  const text = { process: holder, secretsKey: secretsKey.toString('base64'), parts: shared }
  await writePrivateFile(fileIn(dataDir), JSON.stringify(text))
}

export async function removeConnection(dataDir: string): Promise<void> {
  await rm(fileIn(dataDir), { force: true })
}

/** The parts of the store that runs in this folder; undefined if none runs. */
export async function runningSandbox(dataDir: string): Promise<SandboxParts | undefined> {
  const text = await readFileIfThere(fileIn(dataDir))
  if (text === undefined) return undefined
  const { process: holder, secretsKey, parts } = record.parse(JSON.parse(text))
  // A store that was killed leaves the file behind.
  if (!isAlive(holder)) return undefined
  return { ...parts, secretsKey: Buffer.from(secretsKey, 'base64') }
}

function fileIn(dataDir: string): string {
  return join(resolve(dataDir), 'connection.json')
}
