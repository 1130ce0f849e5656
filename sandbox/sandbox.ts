import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import type { Address } from 'viem'
import { type Chain, startChain } from './chain/chain.ts'
import { lockFolder, removeConnection, writeConnection } from './connection.ts'
import {
  type BtcpayAccess,
  launchServices,
  type ServicesSettings,
  type SupplierAccess,
} from './launch.ts'
import { type PostgresOptions, startPostgres } from './postgres/postgres.ts'
import { separateRoles } from './postgres/roles.ts'
import { closedFolder, readFileIfThere, writePrivateFile } from './private-file.ts'

export interface SandboxOptions extends ServicesSettings {
  /** A PostgreSQL to use instead of the embedded one. */
  readonly databaseUrl?: string | undefined
  readonly onProgress: (message: string) => void
  readonly onProblem: (error: Error) => void
}

/** Real parts on one machine: everything that a store connects to, and the keys. */
export interface SandboxParts {
  readonly databaseUrl: string
  readonly chain: Pick<Chain, 'rpcUrl' | 'chainId' | 'usdc' | 'keys'>
  readonly supplier: SupplierAccess
  readonly btcpay: BtcpayAccess
  readonly secretsKey: Buffer
}

export interface Sandbox extends SandboxParts {
  faucet(to: Address): Promise<string>
  /** Stops all parts. */
  stop(): Promise<void>
}

/** Starts the parts in parallel. If one cannot start, the others are stopped again. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const dataDir = resolve(options.dataDir)
  const { onProgress, onProblem } = options
  if (await closedFolder(dataDir)) onProgress(`Closed ${dataDir} to other accounts`)
  await lockFolder(dataDir)
  const starting = [
    options.databaseUrl === undefined
      ? ownPostgres({ dataDir, onProgress })
      : Promise.resolve({ databaseUrl: options.databaseUrl, stop: async () => {} }),
    startChain({ dataDir, onProgress, onProblem }),
    launchServices({ ...options, dataDir }),
  ] as const
  const stop = async () => {
    // Waits for all of them, because the process may exit after the first failure.
    const stopped = await Promise.allSettled([
      removeConnection(dataDir),
      ...starting.map((part) => part.then((started) => started.stop())),
    ])
    return stopped.find((part) => part.status === 'rejected')
  }
  try {
    const [{ databaseUrl }, chain, { supplier, btcpay }] = await Promise.all(starting)
    const { rpcUrl, chainId, usdc, keys } = chain
    const secretsKey = await secretsKeyIn(dataDir)
    const parts = {
      databaseUrl,
      chain: { rpcUrl, chainId, usdc, keys },
      supplier,
      btcpay,
      secretsKey,
    }
    await writeConnection(dataDir, parts)
    return {
      ...parts,
      faucet: (to) => chain.faucet(to),
      async stop() {
        const failed = await stop()
        if (failed) throw failed.reason
      },
    }
  } catch (error) {
    await stop()
    throw error
  }
}

async function ownPostgres(options: PostgresOptions) {
  const server = await startPostgres(options)
  const databaseUrl = await separateRoles(server.databaseUrl).catch(async (error: unknown) => {
    await server.stop()
    throw error
  })
  return { ...server, databaseUrl }
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
