import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { startChain } from '../../sandbox/chain/chain.ts'
import { separateRoles } from '../../sandbox/postgres/roles.ts'
import { startTestPostgres } from '../../sandbox/postgres/test-postgres.ts'
import { openDatabase } from '../../src/adapters/storage/database.ts'
import { migrate } from '../../src/adapters/storage/migrate.ts'

/** What the stories share: a chain and a database server. Each store has its own database and wallets. */
export interface SharedParts {
  readonly databaseUrl: string
  /** A database with the tables of a store, to copy. Nobody is connected to it. */
  readonly template: string
  readonly rpcUrl: string
  readonly usdc: string
  readonly keys: {
    readonly gas: string
    readonly refund: string
    readonly payTo: string
    readonly minter: string
  }
}

declare module 'vitest' {
  interface ProvidedContext {
    parts: SharedParts
  }
}

/**
 * Starts the shared parts once for all stories, and stops them after the last one, or as soon as a
 * later step of the start fails.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  await using starting = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'kiosk402-stories-'))
  starting.defer(() => rm(dataDir, { recursive: true, force: true }))
  const postgres = starting.adopt(await startTestPostgres(), (server) => server.stop())
  const template = await postgres.createDatabase()
  const pool = openDatabase(await separateRoles(template), {
    applicationName: 'test',
    poolSize: 1,
    onError: () => undefined,
  })
  await migrate(pool)
  await pool.end()
  const chain = starting.adopt(await startChain({ dataDir }), (node) => node.stop())
  const { rpcUrl, usdc, keys } = chain
  project.provide('parts', { databaseUrl: postgres.databaseUrl, template, rpcUrl, usdc, keys })
  const started = starting.move()
  return () => started.disposeAsync()
}
