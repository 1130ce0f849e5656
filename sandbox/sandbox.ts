import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { Address } from 'viem'
import { type LaunchedBtcpay, launchBtcpay } from './btcpay/launch.ts'
import { type Chain, startChain } from './chain/chain.ts'
import { lockFolder, removeConnection, writeConnection } from './connection.ts'
import { startPostgres } from './postgres/postgres.ts'
import { closedFolder, readFileIfThere, writePrivateFile } from './private-file.ts'
import { type LaunchedSupplier, launchSupplier } from './supplier/launch.ts'

export interface SandboxOptions {
  readonly dataDir: string
  readonly offers: number
  /** A PostgreSQL to use instead of the embedded one. */
  readonly databaseUrl?: string | undefined
  /** When the late test offers are delivered; seconds after the purchase. */
  readonly lateSeconds: number
  /** The URL for the supplier's webhooks. */
  readonly webhookUrl: string
  /** The URL for the webhooks of BTCPay Server. */
  readonly btcpayWebhookUrl: string
  readonly onProgress: (message: string) => void
  readonly onProblem: (error: Error) => void
}

/** Real parts on one machine: everything that a store connects to, and the keys. */
export interface SandboxParts {
  readonly databaseUrl: string
  readonly chain: Pick<Chain, 'rpcUrl' | 'chainId' | 'usdc' | 'keys'>
  readonly supplier: Omit<LaunchedSupplier, 'stop'>
  readonly btcpay: Omit<LaunchedBtcpay, 'stop'>
  readonly secretsKey: Buffer
}

export interface Sandbox extends SandboxParts {
  faucet(to: Address): Promise<string>
  /** Stops all parts, including those that an earlier store left running. */
  stop(): Promise<void>
}

/** Starts the parts in parallel. If one cannot start, the others are stopped again. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const dataDir = resolve(options.dataDir)
  const { onProgress, onProblem } = options
  if (await closedFolder(dataDir)) onProgress(`Closed ${dataDir} to other accounts`)
  await lockFolder(dataDir)
  const secretsKey = await secretsKeyIn(dataDir)
  const started = await Promise.allSettled([
    options.databaseUrl === undefined
      ? startPostgres({ dataDir, onProgress })
      : { databaseUrl: options.databaseUrl, stop: async () => {} },
    startChain({ dataDir, onProgress, onProblem }),
    launchSupplier({ ...options, dataDir }),
    launchBtcpay({ ...options, dataDir }),
  ])
  const stop = async () => {
    const parts = started.flatMap((part) => (part.status === 'fulfilled' ? [part.value] : []))
    // Waits for all of them, because the process may exit after the first failure.
    const ended = await Promise.allSettled([
      removeConnection(dataDir),
      ...parts.map((part) => part.stop()),
    ])
    const failed = ended.find((part) => part.status === 'rejected')
    if (failed) throw failed.reason
  }
  const [postgres, chain, supplier, btcpay] = started
  if (
    postgres.status === 'rejected' ||
    chain.status === 'rejected' ||
    supplier.status === 'rejected' ||
    btcpay.status === 'rejected'
  ) {
    await stop()
    throw started.find((part) => part.status === 'rejected')?.reason
  }
  const parts = {
    databaseUrl: postgres.value.databaseUrl,
    chain: chain.value,
    supplier: supplier.value,
    btcpay: btcpay.value,
    secretsKey,
  }
  try {
    await writeConnection(dataDir, parts)
  } catch (error) {
    await stop()
    throw error
  }
  return {
    ...parts,
    faucet: (to) => chain.value.faucet(to),
    stop,
  }
}

/** The key that encrypts this folder's secrets, made at the first start. */
async function secretsKeyIn(dataDir: string): Promise<Buffer> {
  const file = join(dataDir, 'secrets.key')
  const text = await readFileIfThere(file)
  if (text !== undefined) return Buffer.from(text, 'base64')
  const key = randomBytes(32)
  await writePrivateFile(file, key.toString('base64'))
  return key
}
