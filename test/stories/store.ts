import { randomBytes } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import type { Address } from 'viem'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, inject } from 'vitest'
import { apiKey, ask, startTestBtcpay, storeId } from '../../sandbox/btcpay/client.fixture.ts'
import type { BtcpayOptions } from '../../sandbox/btcpay/deps.ts'
import { freePort } from '../../sandbox/port.ts'
import { startSupplier } from '../../sandbox/supplier/server.ts'
import type { ProcessorAccess } from '../../src/config.ts'
import { readMethods } from '../../src/payments/btcpay-methods.ts'
import { coins as allCoins } from '../../src/payments/coins.ts'
import { fundedGasKey } from '../harness/gas.ts'
import { type NodeSettings, startNode } from '../harness/node.ts'
import { query } from '../harness/query.ts'
import { type ChainParts, mintUsdc } from './chain.ts'
import { documentedOnly } from './documented.ts'

export interface StoreOptions {
  /** Environment of the store, such as FULFILLMENT_DEADLINE_SECONDS. */
  readonly env?: Readonly<Record<string, string>>
  /** The supplier's pace; `SLOW` takes 100 steps. */
  readonly stepMs?: number
  readonly offers?: number
  /** A BTCPay Server of its own beside the store, and its pace. */
  readonly coins?: Partial<BtcpayOptions>
  /** How the node reaches the chain, when not directly. */
  readonly rpcUrl?: string
  /** A hosted facilitator; without one, the node checks and submits payments itself. */
  readonly facilitatorUrl?: string
  readonly facilitatorKey?: NodeSettings['facilitatorKey']
  /** How the node reaches this supplier, when not directly. */
  readonly supplierVia?: (supplierUrl: string) => Promise<string>
  /** Further suppliers, and how the node reaches them. */
  readonly suppliers?: NodeSettings['suppliers']
  /** How buyers' webhooks are reached. */
  readonly receivers?: NodeSettings['receivers']
  /** How often the node looks at its wallets and parts, where a story waits for that. */
  readonly lookEveryMs?: number
}

const enoughUsdc = 100_000_000_000n

/**
 * A whole store on real parts: its own database on a real PostgreSQL, the EVM node with the real
 * USDC contract, wallets and a supplier of its own, all over HTTP.
 */
export async function openStore(options: StoreOptions = {}) {
  const parts = inject('parts')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const webhook = { header: 'x-supplier-webhook', value: randomBytes(16).toString('hex') }
  const supplier = await openSupplier(options, { url, webhook })
  const coins = options.coins && (await openCoins(options.coins, url))
  const settings: NodeSettings = {
    url,
    port,
    // Every request of a story comes from another client (see fromAnywhere).
    env: { TRUSTED_PROXIES: '1', ...options.env },
    rpcUrl: options.rpcUrl ?? parts.rpcUrl,
    facilitatorUrl: options.facilitatorUrl,
    facilitatorKey: options.facilitatorKey,
    payTo: privateKeyToAddress(generatePrivateKey()),
    gasKey: await fundedGasKey(parts.rpcUrl),
    refundKey: await fundedRefundKey(parts),
    databaseUrl: await copyOf(inject('parts').template),
    supplierUrl: (await options.supplierVia?.(supplier.url)) ?? supplier.url,
    supplierKey,
    suppliers: options.suppliers,
    receivers: options.receivers,
    lookEveryMs: options.lookEveryMs,
    webhook,
    processor: coins?.access,
  }
  const node = await openNode(settings, parts)
  return {
    ...node,
    /** Rows of the store's database, to see what is really kept. */
    query: (sql: string, values: unknown[] = []) => query(settings.databaseUrl, sql, values),
    /** The supplier's admin side: what it charged, and faults to force. */
    admin: (path: string, body?: unknown) => admin(supplier.url, supplierKey, path, body),
    /** The people and chains around the store's BTCPay Server, and faults to force there. */
    btcpay: (path: string, body: unknown = {}) => atBtcpay(coins?.access.url, path, body),
    /** Stops the node alone: its supplier, chain and database go on. */
    halt: node.close,
    async close() {
      await node.close()
      await supplier.stop()
      await coins?.stop()
    },
  }
}

export type Store = Awaited<ReturnType<typeof openStore>>

/** What fails in one file is not counted against the buyers of another. */
const commonEnv = { FAILED_ORDERS_PER_HOUR: '100' }

/** The stores that the files of this process share. They end with the process. */
const common = new Map<'busy' | 'still', Promise<Store>>()

function commonStore(which: 'busy' | 'still'): Promise<Store> {
  const opened = common.get(which) ?? openStore({ env: commonEnv })
  common.set(which, opened)
  return opened
}

/**
 * The store of a file of stories. Without options it is one that all such files share, so that they count only what
 * is theirs, and leave it selling. Nobody buys at the `still` one, so nothing moves in its tables. With options it is
 * the file's own, from before its first story until after its last.
 */
export function useStore(options: StoreOptions | 'busy' | 'still' = 'busy'): Store {
  const store: Partial<Store> = {}
  const isCommon = typeof options === 'string'
  beforeAll(async () => {
    const opened = await (isCommon ? commonStore(options) : openStore(options))
    opened.logLines.length = 0
    Object.assign(store, opened)
  })
  // A store that did not open has said why.
  afterAll(() => (isCommon ? undefined : store.close?.()))
  return store as Store
}

/**
 * Another node of the same store: same database, supplier and wallets; its own address. The
 * supplier's webhooks go to the first one only.
 */
export async function openSibling(
  { settings, parts }: Store,
  env: Record<string, string> = {},
  prepare?: (app: FastifyInstance) => void,
) {
  return openNode(await siblingSettings({ settings }, env), parts, prepare)
}

/** What a sibling is started with; for a node in a process of its own. */
export async function siblingSettings(
  { settings }: Pick<Store, 'settings'>,
  env: Record<string, string> = {},
): Promise<NodeSettings> {
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  return { ...settings, url, port, env: { ...settings.env, ...env } }
}

/**
 * Starts a node, also one that was stopped, or on another database. What it answers is compared with
 * `openapi.json`.
 */
export async function openNode(
  settings: NodeSettings,
  parts: ChainParts,
  prepare: (app: FastifyInstance) => void = () => undefined,
) {
  const logLines: string[] = []
  const write = (line: string) => logLines.push(line)
  const service = await startNode(settings, write, (app) => {
    documentedOnly(app)
    prepare(app)
  })
  let stopped: Promise<void> | undefined
  return {
    url: settings.url,
    databaseUrl: settings.databaseUrl,
    service,
    logLines,
    webhook: settings.webhook,
    settings,
    parts,
    payTo: settings.payTo as Address,
    gasWallet: privateKeyToAddress(settings.gasKey),
    refundWallet: privateKeyToAddress(settings.refundKey),
    close: () => {
      stopped ??= service.stop()
      return stopped
    },
  }
}

const supplierKey = 'sandbox_story_key'

function openSupplier(
  options: StoreOptions,
  { url, webhook }: Pick<NodeSettings, 'url' | 'webhook'>,
) {
  const { offers = 60, stepMs = 15 } = options
  const target = {
    url: `${url}/webhooks/supplier`,
    headerName: webhook.header,
    headerValue: webhook.value,
  }
  return startSupplier({
    apiKey: supplierKey,
    offers,
    stepMs,
    lateSeconds: 660,
    webhook: target,
  })
}

async function openCoins(options: Partial<BtcpayOptions>, storeUrl: string) {
  const secret = 'story-webhook-secret'
  const webhook = { url: `${storeUrl}/webhooks/btcpay`, secret }
  const { url, stop } = await startTestBtcpay({ webhook, ...options })
  const methods = readMethods(allCoins.join(','))
  const access: ProcessorAccess = {
    ...{ url, storeId, apiKey, methods },
    webhookSecret: secret,
    isTestnet: true,
  }
  return { access, stop }
}

async function atBtcpay(url: string | undefined, path: string, body: unknown) {
  const { status, body: answer } = await ask(url ?? '', `POST /sandbox${path}`, body)
  if (status >= 300) throw new Error(`BTCPay's sandbox side answered ${status}: ${path}`)
  return answer
}

async function fundedRefundKey(parts: ChainParts): Promise<`0x${string}`> {
  const key = generatePrivateKey()
  await mintUsdc(parts, privateKeyToAddress(key), enoughUsdc)
  return key
}

/** A copy of a database that nobody is connected to: what a backup restores. */
export function copyOf(databaseUrl: string): Promise<string> {
  const template = new URL(databaseUrl).pathname.slice(1)
  return newDatabase(inject('parts').databaseUrl, `template ${template}`)
}

/** Lets nobody connect to a database any more, or everybody again. */
export async function letIn(databaseUrl: string, isLetIn: boolean): Promise<void> {
  const server = inject('parts').databaseUrl
  const name = new URL(databaseUrl).pathname.slice(1)
  await query(server, `alter database ${name} with allow_connections ${isLetIn}`)
  const end = 'select pg_terminate_backend(pid) from pg_stat_activity where datname = $1'
  if (!isLetIn) await query(server, end, [name])
}

export async function newDatabase(serverUrl: string, like = ''): Promise<string> {
  const name = `story_${randomBytes(6).toString('hex')}`
  await query(serverUrl, `create database ${name} ${like}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
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
