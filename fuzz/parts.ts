import { type ChildProcess, fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import pg from 'pg'
import { startChain } from '../sandbox/chain/chain.ts'
import { freePort } from '../sandbox/port.ts'
import { startTestPostgres } from '../sandbox/postgres/test-postgres.ts'
import { startSupplier } from '../sandbox/supplier/server.ts'
import { newDataDir } from '../test/child-store.ts'
import type { NodeSettings } from '../test/harness/node.ts'
import type { ChainParts } from '../test/stories/chain.ts'
import type { Store } from '../test/stories/store.ts'
import type { Ask, Told } from './store-process.ts'

export interface Memory {
  readonly heapBytes: number
  readonly rssBytes: number
}

/** A whole store with real parts; the store itself has a process of its own. */
export interface Parts {
  readonly url: string
  readonly chain: ChainParts
  readonly webhook: NodeSettings['webhook']
  /** The store's own secrets, which it must never disclose. */
  readonly secrets: readonly string[]
  /** Adds words that no log line may contain, in place of those of an earlier call. */
  watchFor(words: readonly string[]): void
  /** Log lines that contain a secret, or have level `warn` or above. */
  readonly badLines: readonly string[]
  query: (sql: string) => ReturnType<Store['query']>
  memory(): Promise<Memory>
  stop(): Promise<void>
}

const supplierKey = 'sandbox_fuzz_supplier_key'

export async function startParts(): Promise<Parts> {
  await using starting = new AsyncDisposableStack()
  const dataDir = await newDataDir()
  starting.defer(() => rm(dataDir, { recursive: true, force: true }))
  const postgres = starting.adopt(await startTestPostgres(), (server) => server.stop())
  const chain = starting.adopt(await startChain({ dataDir }), (node) => node.stop())
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const webhook = { header: 'x-supplier-webhook', value: randomBytes(16).toString('hex') }
  const supplier = await startSupplier({
    apiKey: supplierKey,
    offers: 600,
    stepMs: 15,
    webhook: {
      url: `${url}/webhooks/supplier`,
      headerName: webhook.header,
      headerValue: webhook.value,
    },
  })
  starting.defer(() => supplier.stop())
  const { gas, refund, payTo } = chain.keys
  const metricsToken = randomBytes(16).toString('hex')
  const secrets = [supplierKey, webhook.value, metricsToken, gas.slice(2), refund.slice(2)]
  const store = await startStore(
    {
      url,
      port,
      env: { TRUSTED_PROXIES: '1', METRICS_TOKEN: metricsToken },
      rpcUrl: chain.rpcUrl,
      payTo,
      gasKey: gas,
      refundKey: refund,
      databaseUrl: postgres.databaseUrl,
      supplierUrl: supplier.url,
      supplierKey,
      webhook,
    },
    secrets,
  )
  const started = starting.move()
  return {
    url,
    chain,
    webhook,
    secrets,
    ...store,
    watchFor: (words) => store.send({ secrets: [...secrets, ...words] }),
    query: (sql) => query(postgres.databaseUrl, sql),
    async stop() {
      await store.stop()
      await started.disposeAsync()
    },
  }
}

async function startStore(start: NodeSettings, secrets: readonly string[]) {
  const child = fork(new URL('store-process.ts', import.meta.url), {
    execArgv: ['--expose-gc'],
  })
  const badLines: string[] = []
  child.on('message', (told: Told) => {
    if ('line' in told) badLines.push(told.line)
  })
  const send = (ask: Ask) => child.send(ask)
  send({ start, secrets })
  await answerOf(child, (told) => 'ready' in told)
  return {
    badLines,
    send,
    async memory() {
      send({ measure: true })
      return (await answerOf(child, (told) => 'heapBytes' in told)) as Memory
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      child.disconnect()
      await once(child, 'exit')
    },
  }
}

/** Waits for a message of this kind. Rejects if the process ends first. */
function answerOf(child: ChildProcess, is: (told: Told) => boolean): Promise<Told> {
  return new Promise((resolve, reject) => {
    const ended = () => reject(new Error('The store has ended'))
    const heard = (told: Told) => {
      if (!is(told)) return
      child.off('message', heard)
      child.off('exit', ended)
      resolve(told)
    }
    child.on('message', heard)
    child.once('exit', ended)
  })
}

async function query(databaseUrl: string, sql: string) {
  const client = new pg.Client(databaseUrl)
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}
