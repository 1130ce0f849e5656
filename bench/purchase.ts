import { randomBytes } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { startChain } from '../sandbox/chain/chain.ts'
import { freePort } from '../sandbox/port.ts'
import { startPostgres } from '../sandbox/postgres/postgres.ts'
import { transferTypes } from '../src/adapters/chain/token.ts'
import { rawVoucher } from '../src/adapters/suppliers/zendit/sample-offers.fixture.ts'
import {
  type Asked,
  type Reply,
  startScripted,
} from '../src/adapters/suppliers/zendit/scripted-server.fixture.ts'
import { readConfig, type SandboxConfig } from '../src/config.ts'
import { createLog } from '../src/log.ts'
import { networks } from '../src/payments/networks.ts'
import { startService } from '../src/service.ts'
import { newDataDir } from '../test/child-store.ts'
import { type Figure, figure, quantile } from './figures.ts'
import { watchOutside } from './outside.ts'

const purchases = 150
const warmUp = 30
const path = '/api/catalog/vouchers/purchase/info'
const body = JSON.stringify({
  offerId: 'BENCH_US_050_EGIFT',
  firstName: 'Ada',
  lastName: 'Lovelace',
})

/**
 * One purchase after another over HTTP, with a PostgreSQL that syncs to disk and a real EVM node.
 * The store's own part is what is left when the time in which it waits for the chain
 * or the supplier is taken away; the signature checks of x402 are in it.
 */
export async function measurePurchase(): Promise<Figure[]> {
  const dataDir = await newDataDir()
  const stops: (() => Promise<unknown>)[] = [() => rm(dataDir, { recursive: true, force: true })]
  const started = <T extends { stop(): Promise<void> }>(part: T): T => {
    stops.unshift(() => part.stop())
    return part
  }
  try {
    const postgres = started(await startPostgres({ dataDir }))
    const chain = started(await startChain({ dataDir }))
    const supplier = await startScripted(deliveringAtOnce)
    stops.unshift(() => supplier.close())
    const outside = watchOutside([chain.rpcUrl, supplier.url])
    const port = await freePort()
    const service = started(await startStore(port, { postgres, chain, supplier }))
    const inStore: number[] = []
    service.app.addHook('onResponse', async (_, reply) => {
      if (reply.statusCode === 200) inStore.push(reply.elapsedTime)
    })
    await service.app.listen({ host: '127.0.0.1', port })
    return await buyAgainAndAgain(port, chain, { waited: outside.waited, inStore })
  } finally {
    for (const stop of stops) await stop()
  }
}

/**
 * A supplier that has delivered before it is asked, over HTTP: how long a supplier takes is not what
 * is measured, and waiting for it must not hide what is.
 */
function deliveringAtOnce({ method, path, body: asked }: Asked): Reply {
  if (path === '/rates')
    return { json: { base: 'USD', date: new Date().toISOString().slice(0, 10), rates: {} } }
  if (path === '/balance')
    return { json: { availableBalance: 1, currency: 'USD', currencyDivisor: 100 } }
  if (path === '/vouchers/offers')
    return { json: { limit: 1024, offset: 0, total: 1, list: [offer] } }
  if (path.endsWith('/offers')) return { json: { limit: 1024, offset: 0, total: 0, list: [] } }
  const [, reference = ''] = /purchases\/(\w+)$/.exec(path) ?? []
  if (reference !== '')
    return { json: { transactionId: reference, status: 'DONE', receipt: { epin: 'BENCH-CODE' } } }
  return method === 'POST'
    ? { json: { status: 'ACCEPTED', transactionId: referenceIn(asked) } }
    : { status: 404, json: { errorCode: 'NOT_FOUND' } }
}

function referenceIn(asked: unknown): unknown {
  return typeof asked === 'object' && asked !== null && 'transactionId' in asked
    ? asked.transactionId
    : ''
}

const offer = rawVoucher({
  offerId: 'BENCH_US_050_EGIFT',
  cost: { currency: 'USD', currencyDivisor: 100, fixed: 50 },
  price: { currency: 'USD', currencyDivisor: 100, fixed: 50 },
})

interface Parts {
  readonly postgres: { readonly databaseUrl: string }
  readonly chain: Awaited<ReturnType<typeof startChain>>
  readonly supplier: { readonly url: string }
}

function startStore(port: number, { postgres, chain, supplier }: Parts) {
  const env = { PORT: String(port), PUBLIC_URL: `http://127.0.0.1:${port}` }
  return startService({
    config: {
      ...(readConfig(env) as SandboxConfig),
      network: networks['base-sepolia'],
      rpcUrl: chain.rpcUrl,
      pollMs: 20,
      headMostSeconds: 90,
      payTo: chain.keys.payTo,
      gasKey: chain.keys.gas,
      refundKey: chain.keys.refund,
      walletFactories: [],
      databaseUrl: postgres.databaseUrl,
      supplierUrl: supplier.url,
      supplierKey: 'bench',
      ratesUrl: `${supplier.url}/rates`,
      secretsKeys: [randomBytes(32)],
    },
    log: createLog('silent', { write: () => {} }),
  })
}

interface Clocks {
  /** How long the store has waited for the chain and the supplier, in all; milliseconds. */
  readonly waited: () => number
  /** Of each purchase, from its arrival at the store to the end of its answer; milliseconds. */
  readonly inStore: readonly number[]
}

async function buyAgainAndAgain(
  port: number,
  chain: Awaited<ReturnType<typeof startChain>>,
  clocks: Clocks,
): Promise<Figure[]> {
  const total: number[] = []
  const waited: number[] = []
  const unpaid: number[] = []
  const account = privateKeyToAccount(generatePrivateKey())
  await chain.faucet(account.address)
  for (let bought = 0; bought < purchases; bought += 1) {
    // Each buyer has an address of its own on the loopback net, so the rate limit stays as it is.
    const localAddress = `127.0.${Math.floor(bought / 25) + 1}.1`
    const asked = performance.now()
    const demand = await send(port, localAddress, {})
    const demandedIn = performance.now() - asked
    const payment = await sign(account, JSON.parse(demand.body).accepts[0])
    const waitedBefore = clocks.waited()
    const startedAt = performance.now()
    const answer = await send(port, localAddress, { 'payment-signature': payment })
    const took = performance.now() - startedAt
    if (answer.status !== 200)
      throw new Error(`A purchase was answered ${answer.status}: ${answer.body}`)
    if (bought < warmUp) continue
    unpaid.push(demandedIn)
    total.push(took)
    waited.push(clocks.waited() - waitedBefore)
  }
  // The last answer is read here a moment before the store has noted its end.
  while (clocks.inStore.length < purchases) await delay(1)
  const inStore = clocks.inStore.slice(-waited.length)
  const own = waited.map((ms, at) => (inStore[at] ?? Number.NaN) - ms)
  return [
    figure('A purchase, the store’s own part, p50', quantile(own, 0.5), 'ms', 10),
    figure('A purchase, the store’s own part, p95', quantile(own, 0.95), 'ms'),
    figure(
      'A purchase from request to goods, all parts on this machine, p50',
      quantile(total, 0.5),
      'ms',
    ),
    figure('The unpaid call that names the price, p50', quantile(unpaid, 0.5), 'ms'),
  ]
}

interface Terms {
  readonly asset: Hex
  readonly payTo: Hex
  readonly amount: string
  readonly extra: { readonly name: string; readonly version: string }
}

async function sign(
  account: ReturnType<typeof privateKeyToAccount>,
  accepted: Terms,
): Promise<string> {
  const validBefore = Math.floor(Date.now() / 1_000) + 300
  const nonce = `0x${randomBytes(32).toString('hex')}` as Hex
  const { name, version } = accepted.extra
  const signature = await account.signTypedData({
    domain: { name, version, chainId: 84_532, verifyingContract: accepted.asset },
    types: transferTypes,
    primaryType: 'TransferWithAuthorization',
    message: {
      from: account.address,
      to: accepted.payTo,
      value: BigInt(accepted.amount),
      validAfter: 0n,
      validBefore: BigInt(validBefore),
      nonce,
    },
  })
  const authorization = {
    from: account.address,
    to: accepted.payTo,
    value: accepted.amount,
    validAfter: '0',
    validBefore: String(validBefore),
    nonce,
  }
  const payload = { x402Version: 2, accepted, payload: { signature, authorization } }
  return Buffer.from(JSON.stringify(payload)).toString('base64')
}

function send(port: number, localAddress: string, headers: Record<string, string>) {
  return new Promise<{ status: number; body: string }>((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      path,
      localAddress,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
    }
    const outgoing = request(options, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
      )
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}
