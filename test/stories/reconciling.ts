import { connectChain } from '../../src/adapters/chain/connect.ts'
import { reachStorage } from '../../src/adapters/storage/storage.ts'
import { connectCoins } from '../../src/app/coin-payments.ts'
import { connectSuppliers } from '../../src/app/supply.ts'
import { usdc } from '../../src/lib/money.ts'
import { idsFor } from '../../src/orders/order.ts'
import { networks } from '../../src/payments/networks.ts'
import { rebuild } from '../../src/reconcile/rebuild.ts'
import { reconcile } from '../../src/reconcile/reconcile.ts'
import type { Look } from '../../src/reconcile/sources.ts'
import { createDigest, createVault } from '../../src/secrets/secrets.ts'
import { type NodeSettings, secretsKey, suppliersOf } from '../harness/node.ts'

/** What an operator has beside a store: its books, with every payment old enough to be looked at. */
export async function openSources(settings: NodeSettings, keys: readonly Buffer[] = [secretsKey]) {
  const { databaseUrl, payTo, rpcUrl, gasKey, refundKey } = settings
  const network = networks['base-sepolia']
  const now = () => new Date()
  const caps = { hour: usdc(10n ** 12n), day: usdc(10n ** 12n) }
  const reached = await reachStorage(
    { databaseUrl, mode: 'sandbox', network, payTo, refundCaps: caps },
    () => {},
  )
  const storage = await reached.migrateAndClaim()
  const chain = connectChain(
    {
      ...{ network, rpcUrl, gasKey, refundKey, pollMs: 20, maxHeadSeconds: 90 },
      ...{ walletFactories: [], maxSettlementWei: 10n ** 16n },
    },
    now,
  )
  const connected = connectSuppliers({ suppliers: suppliersOf(settings) }, now)
  const { statement: processor } = connectCoins(
    { processor: settings.processor, invoiceMinutes: 30 },
    { ...storage, now },
  )
  const present = { pay_to: payTo, refunds: chain.refundWallet }
  const sourcesNow = async () => ({
    chain: chain.statement(await storage.wallets.ours(present)),
    suppliers: new Map(Array.from(connected, ([name, { statement }]) => [name, statement])),
    store: storage.record,
    checkouts: storage.checkoutRecord,
    hands: storage.handPayouts,
    movements: storage.movements,
    ...(processor ? { processor } : {}),
  })
  const look = (): Look => ({
    now: now(),
    strayAfterMs: 0,
    fromBlock: 0,
    idsFor: (payment) => keys.map((key) => idsFor(createDigest([key], 'orders'), payment)),
  })
  const writes = { vault: createVault(keys), digest: createDigest(keys, 'orders'), now }
  return {
    reconcile: async () => reconcile(await sourcesNow(), look()),
    rebuild: async () => {
      const sources = await sourcesNow()
      return rebuild({ ...sources, ...writes }, await reconcile(sources, look()))
    },
    wallets: storage.wallets,
    movements: storage.movements,
    close: () => storage.close(),
  }
}

export type StorySources = Awaited<ReturnType<typeof openSources>>
