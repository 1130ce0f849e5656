import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import { inject } from 'vitest'
import { freePort } from '../../sandbox/port.ts'
import { startSupplier } from '../../sandbox/supplier/server.ts'
import { readConfig, type SandboxConfig } from '../../src/config.ts'
import { createLog } from '../../src/log.ts'
import { networks } from '../../src/payments/networks.ts'
import { startService } from '../../src/service.ts'

export interface StoreOptions {
  /** Environment of the store, such as FULFILLMENT_DEADLINE_SECONDS. */
  readonly env?: Readonly<Record<string, string>>
  /** Seconds after which the LATE test offers are delivered. */
  readonly lateSeconds?: number
  /** The supplier's pace; `SLOW` takes 100 steps. */
  readonly stepMs?: number
  readonly offers?: number
  /** False: the supplier sends no webhooks, and only polling makes progress. */
  readonly webhooks?: boolean
  /** Another store's database, so that two stores work on the same orders. */
  readonly databaseUrl?: string
}

/**
 * A whole store on real parts: its own database on a real PostgreSQL, the shared EVM node with the
 * real USDC contract, and its own supplier, all over HTTP.
 */
export async function openStore(options: StoreOptions = {}) {
  const parts = inject('parts')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const webhook = { header: 'x-supplier-webhook', value: randomBytes(16).toString('hex') }
  const supplierKey = 'sandbox_story_key'
  const supplier = await startSupplier({
    apiKey: supplierKey,
    offers: options.offers ?? 600,
    stepMs: options.stepMs ?? 15,
    lateSeconds: options.lateSeconds ?? 660,
    ...(options.webhooks === false
      ? {}
      : {
          webhook: {
            url: `${url}/webhooks/supplier`,
            headerName: webhook.header,
            headerValue: webhook.value,
          },
        }),
  })
  const databaseUrl = options.databaseUrl ?? (await newDatabase(parts.databaseUrl))
  const config = readConfig({
    ...options.env,
    PUBLIC_URL: url,
    PORT: String(port),
  }) as SandboxConfig
  const logLines: string[] = []
  const service = await startService({
    config: {
      ...config,
      network: networks['base-sepolia'],
      rpcUrl: parts.rpcUrl,
      pollMs: 20,
      headMostSeconds: 90,
      payTo: parts.keys.payTo,
      gasKey: parts.keys.gas as `0x${string}`,
      refundKey: parts.keys.refund as `0x${string}`,
      walletFactories: [],
      databaseUrl,
      supplierUrl: `${supplier.url}/v1`,
      supplierKey,
      supplierWebhook: webhook,
      ratesUrl: `${supplier.url}/rates/v1/latest`,
      secretsKeys: [createHash('sha256').update('story').digest()],
    },
    log: createLog('trace', { write: (line: string) => logLines.push(line) }),
  })
  await service.app.listen({ host: '127.0.0.1', port })

  return {
    url,
    databaseUrl,
    service,
    logLines,
    webhook,
    /** Rows of the store's database, to see what is really kept. */
    query: (sql: string, values: unknown[] = []) => query(databaseUrl, sql, values),
    /** The supplier's admin side: what it charged, and faults to force. */
    admin: (path: string, body?: unknown) => admin(supplier.url, supplierKey, path, body),
    async close() {
      await service.stop()
      await supplier.stop()
    },
  }
}

export type Store = Awaited<ReturnType<typeof openStore>>

async function newDatabase(serverUrl: string): Promise<string> {
  const name = `story_${randomBytes(6).toString('hex')}`
  await query(serverUrl, `create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

async function query(url: string, sql: string, values: unknown[] = []) {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query(sql, values)).rows
  } finally {
    await client.end()
  }
}

async function admin(url: string, key: string, path: string, body?: unknown) {
  const response = await fetch(`${url}/_admin${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new Error(`The supplier's admin side answered ${response.status}`)
  return response.json()
}
