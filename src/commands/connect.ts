import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type ConnectedChain, connectChain } from '../adapters/chain/connect.ts'
import { reachStorage, type Storage } from '../adapters/storage/storage.ts'
import { connectCoins } from '../app/coin-payments.ts'
import { loadSandbox, sandboxOptions, sandboxOutside } from '../app/sandbox-parts.ts'
import { connectSuppliers } from '../app/supply.ts'
import { type Common, type Outside, readConfig, type SandboxConfig } from '../config.ts'
import { ConfigError } from '../environment/environment.ts'
import type { ProcessorStatement } from '../reconcile/ports.ts'
import type { SupplierStatement } from '../suppliers/supplier.ts'

type StoreConfig = Common & Outside & { readonly mode: 'sandbox' | 'live' }

/** What the store is connected to, for a command that an operator runs beside it or instead of it. */
export interface Connection {
  readonly config: StoreConfig
  readonly storage: Storage
  readonly chain: ConnectedChain
  readonly suppliers: ReadonlyMap<string, SupplierStatement>
  /** Undefined if the store takes no coins. */
  readonly processor: ProcessorStatement | undefined
  /** Closes what was opened, and stops what was started, for this command. */
  close(): Promise<void>
}

/** A command may read all orders, and no buyer waits for it. */
const statementTimeoutMs = 600_000

/**
 * Connects with the same environment as the store. In the sandbox, it uses the parts of the store that runs
 * in DATA_DIR; if none runs, they are started for this command and stopped after it, so that a store which
 * refuses to start can be repaired.
 *
 * @param tell is called with what takes a moment
 * @param setsUp whether to migrate the database and claim it for this store, as a start does
 * @throws ConfigError, and an error if the database was not set up and `setsUp` is false
 */
export async function connect(
  environment: Readonly<Record<string, string | undefined>>,
  { tell, setsUp }: { readonly tell: (message: string) => void; readonly setsUp: boolean },
): Promise<Connection> {
  const read = readConfig(environment)
  const { config, stop } =
    read.mode === 'live' ? { config: read, stop: async () => {} } : await sandbox(read, tell)
  try {
    const database = await reachStorage({ ...config, statementTimeoutMs }, tellError(tell))
    return open(config, await (setsUp ? database.take() : database.open()), stop)
  } catch (error) {
    await stop()
    throw error
  }
}

function open(config: StoreConfig, storage: Storage, stop: () => Promise<void>): Connection {
  const now = () => new Date()
  const stopping = new AbortController()
  const coins = connectCoins(config, { ...storage, now })
  const suppliers = connectSuppliers(config, now, stopping.signal)
  return {
    config,
    storage,
    chain: connectChain(config, now),
    suppliers: new Map(Array.from(suppliers, ([name, { statement }]) => [name, statement])),
    processor: coins.statement,
    async close() {
      stopping.abort()
      await storage.close()
      await stop()
    },
  }
}

async function sandbox(config: SandboxConfig, tell: (message: string) => void) {
  const { dataDir } = config
  const { startSandbox, runningSandbox } = await loadSandbox()
  const running = await runningSandbox(dataDir)
  if (running) return { config: sandboxOutside(config, running), stop: async () => {} }
  if (!existsSync(join(dataDir, 'store.lock'))) {
    throw new ConfigError([
      `DATA_DIR ${resolve(dataDir)} has no store in it; start one with npm start, or name another folder`,
    ])
  }
  tell(`No store is running in ${dataDir}; starting its parts for this command`)
  const parts = await startSandbox({
    ...sandboxOptions(config),
    onProgress: tell,
    onProblem: tellError(tell),
  })
  return { config: sandboxOutside(config, parts), stop: parts.stop }
}

function tellError(tell: (message: string) => void): (error: Error) => void {
  return (error) => tell(error.message)
}
