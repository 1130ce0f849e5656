import { randomBytes } from 'node:crypto'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { startBtcpay } from '../../sandbox/btcpay/server.ts'
import { type Chain, startChain } from '../../sandbox/chain/chain.ts'
import { freePort } from '../../sandbox/port.ts'
import { startSupplier } from '../../sandbox/supplier/server.ts'
import { type Front, placeFor, startFront } from '../../test/harness/deployed.ts'
import { fundedGasKey } from '../../test/harness/gas.ts'
import { type Redis, startRedis } from '../../test/harness/redis.ts'
import { type Database, startDatabase } from './database.ts'
import { createNode, type Settings } from './node.ts'

/** A name that always resolves to this machine, so that every client finds the store. */
const name = 'localhost'
/** Atomic USDC in the refund wallet at the start. */
const float = 10_000_000_000n
const btcpayAccess = { apiKey: 'rehearsal-key-of-btcpay', storeId: 'RehearsalStore' }
const supplierWebhook = { headerName: 'x-supplier-webhook', headerValue: 'rehearsal-of-a-webhook' }
const webhookSecret = 'rehearsal-of-a-webhook'

/**
 * Everything around a store, on this machine: Debian's PostgreSQL, Redis and proxy, the sandbox's chain,
 * supplier and BTCPay Server, and the folders of two nodes.
 */
export async function startParts(front: Front) {
  await using starting = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'kiosk402-rehearsal-'))
  await chmod(dir, 0o711)
  starting.defer(() => rm(dir, { recursive: true, force: true }))
  const database = starting.adopt(await startDatabase(dir), (server) => server.stop())
  const redis = starting.adopt(await startRedis(), (server) => server.stop())
  const chain = starting.adopt(await startChain({ dataDir: dir }), (node) => node.stop())
  const nodes = [await newNode(dir, 'one'), await newNode(dir, 'two')] as const
  const place = await placeFor([nodes[0].at, nodes[1].at], name)
  const publicUrl = `https://${name}:${place.port}`
  trust(place.ca)
  const supplier = starting.adopt(
    await startSupplier({
      apiKey: 'rehearsal-key-of-the-supplier',
      offers: 600,
      webhook: { ...supplierWebhook, url: `${publicUrl}/webhooks/supplier` },
    }),
    (server) => server.stop(),
  )
  const btcpay = starting.adopt(
    await startBtcpay({
      ...btcpayAccess,
      webhook: { url: `${publicUrl}/webhooks/btcpay`, secret: webhookSecret },
    }),
    (server) => server.stop(),
  )
  const settings = await settingsOf({ publicUrl, database, redis, chain, supplier, btcpay })
  const parts = {
    ...{ dir, proxy: front.name, database, chain, btcpay, nodes, publicUrl, settings },
    certificate: place.certificate.file,
    startFront: () => startFront(front, place),
  }
  const started = starting.move()
  return { ...parts, stop: () => started.disposeAsync() }
}

export type Parts = Awaited<ReturnType<typeof startParts>>

/** The database of the store; restoring a backup changes it. */
export const recordOf = ({ settings }: Pick<Parts, 'settings'>) => settings['DATABASE_URL'] ?? ''

interface Around {
  readonly publicUrl: string
  readonly database: Database
  readonly redis: Redis
  readonly chain: Chain
  readonly supplier: { readonly url: string }
  readonly btcpay: { readonly url: string }
}

/** The settings of both nodes. */
async function settingsOf(around: Around): Promise<Settings> {
  const { publicUrl, database, redis, chain, supplier, btcpay } = around
  const refundKey = generatePrivateKey()
  await chain.faucet(privateKeyToAddress(refundKey), float)
  return {
    REHEARSAL: '1',
    PUBLIC_URL: publicUrl,
    TRUSTED_PROXIES: '127.0.0.1',
    DATABASE_URL: await database.create('kiosk402'),
    REDIS_URL: redis.url,
    RPC_URL: chain.rpcUrl,
    RPC_WITNESS_URLS: chain.rpcUrl.replace('127.0.0.1', 'localhost'),
    PAY_TO: privateKeyToAddress(generatePrivateKey()),
    GAS_KEY: await fundedGasKey(chain.rpcUrl),
    REFUND_KEY: refundKey,
    SECRETS_KEY: randomBytes(32).toString('base64'),
    SUPPLIER_URL: `${supplier.url}/v1`,
    SUPPLIER_KEY: 'rehearsal-key-of-the-supplier',
    SUPPLIER_WEBHOOK_HEADER: supplierWebhook.headerName,
    SUPPLIER_WEBHOOK_SECRET: supplierWebhook.headerValue,
    RATES_URL: `${supplier.url}/rates/v1/latest`,
    BTCPAY_URL: btcpay.url,
    BTCPAY_STORE_ID: btcpayAccess.storeId,
    BTCPAY_API_KEY: btcpayAccess.apiKey,
    BTCPAY_METHODS: 'BTC,LTC',
    BTCPAY_WEBHOOK_SECRET: webhookSecret,
    METRICS_TOKEN: randomBytes(16).toString('hex'),
  }
}

async function newNode(dir: string, called: string) {
  const folder = join(dir, called)
  await mkdir(folder, { mode: 0o700 })
  return createNode(folder, await freePort())
}

/** Makes the clients of this process trust the certificate of the store. */
function trust(ca: string): void {
  setDefaultCACertificates([...getCACertificates('default'), ca])
}
