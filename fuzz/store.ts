import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import type { Hex } from 'viem'
import { startChain } from '../sandbox/chain/chain.ts'
import { freePort } from '../sandbox/port.ts'
import { startTestPostgres } from '../sandbox/postgres/test-postgres.ts'
import { startSupplier } from '../sandbox/supplier/server.ts'
import { newDataDir } from '../test/child-store.ts'
import { fundedGasKey } from '../test/harness/gas.ts'
import type { NodeSettings } from '../test/harness/node.ts'
import { query } from '../test/harness/query.ts'
import { secretsOf } from './judge.ts'
import type { Said } from './store-process.ts'

const supplierKey = 'sandbox_fuzz_supplier_key'

/** A store of this many offers on a real database, chain and supplier, in a process of its own. */
export async function startStore(offers: number) {
  await using starting = new AsyncDisposableStack()
  const dataDir = await newDataDir()
  starting.defer(() => rm(dataDir, { recursive: true, force: true }))
  const postgres = starting.adopt(await startTestPostgres(), (server) => server.stop())
  const chain = starting.adopt(await startChain({ dataDir }), (node) => node.stop())
  const options = { apiKey: supplierKey, offers, stepMs: 15 }
  const supplier = starting.adopt(await startSupplier(options), (server) => server.stop())
  const port = await freePort()
  const settings: NodeSettings = {
    url: `http://127.0.0.1:${port}`,
    port,
    env: { TRUSTED_PROXIES: '1' },
    rpcUrl: chain.rpcUrl,
    payTo: chain.keys.payTo,
    gasKey: await fundedGasKey(chain.rpcUrl),
    refundKey: chain.keys.refund as Hex,
    databaseUrl: postgres.databaseUrl,
    supplierUrl: supplier.url,
    supplierKey,
    webhook: { header: 'x-supplier-webhook', value: randomBytes(16).toString('hex') },
  }
  const node = starting.adopt(await startNode(settings), ({ stop }) => stop())
  const { url, databaseUrl } = settings
  const started = starting.move()
  return {
    ...{ url, port, routes: node.routes, badLines: node.badLines, threadMs: node.threadMs },
    secrets: secretsOf(settings),
    async countOrders(): Promise<number> {
      const [row] = await query(databaseUrl, 'select count(*) from orders')
      return Number(row?.['count'])
    },
    stop: () => started.disposeAsync(),
  }
}

export type FuzzedStore = Awaited<ReturnType<typeof startStore>>

type Answer = Exclude<Said, { readonly badLine: string }>

/** Starts the process of the store, and talks to it. */
async function startNode(settings: NodeSettings) {
  const child = fork(new URL('store-process.ts', import.meta.url))
  const badLines: string[] = []
  let answer = Promise.withResolvers<Answer>()
  child.on('exit', (code, signal) => answer.reject(new Error(`The store ended: ${code ?? signal}`)))
  child.on('message', (said: Said) => {
    if ('badLine' in said) badLines.push(said.badLine)
    else answer.resolve(said)
  })
  const send = (message: object): Promise<Answer> => {
    answer = Promise.withResolvers()
    child.send(message, (error) => error && answer.reject(error))
    return answer.promise
  }
  const ready = await send(settings)
  return {
    badLines,
    routes: 'routes' in ready ? ready.routes : [],
    async threadMs(): Promise<number> {
      const said = await send({})
      return 'threadMs' in said ? said.threadMs : Number.NaN
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return
      answer.promise.catch(() => {})
      child.disconnect()
      await once(child, 'exit')
    },
  }
}
