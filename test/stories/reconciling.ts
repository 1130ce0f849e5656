import { connectChain } from '../../src/adapters/chain/connect.ts'
import { openStorage } from '../../src/adapters/storage/storage.ts'
import { zenditBooks } from '../../src/adapters/suppliers/zendit/books.ts'
import { createZenditClient } from '../../src/adapters/suppliers/zendit/client.ts'
import { connectCoins } from '../../src/coin-payments.ts'
import { idsFor } from '../../src/orders/naming.ts'
import { networks } from '../../src/payments/networks.ts'
import { usdc } from '../../src/primitives/money.ts'
import type { Look } from '../../src/reconcile/books.ts'
import { rebuild } from '../../src/reconcile/rebuild.ts'
import { reconcile } from '../../src/reconcile/reconcile.ts'
import { createDigest } from '../../src/secrets/tokens.ts'
import { createVault } from '../../src/secrets/vault.ts'
import { type NodeSettings, secretsKey } from '../harness/node.ts'

/** What an operator has beside a store: its books, with every payment old enough to be looked at. */
export async function openBooks(settings: NodeSettings, keys: readonly Buffer[] = [secretsKey]) {
  const { databaseUrl, payTo, rpcUrl, gasKey, refundKey, supplierUrl, supplierKey } = settings
  const network = networks['base-sepolia']
  const now = () => new Date()
  const caps = { hour: usdc(10n ** 12n), day: usdc(10n ** 12n) }
  const storage = await openStorage(
    { databaseUrl, mode: 'sandbox', network, payTo, refundCaps: caps },
    () => {},
  )
  const chain = connectChain(
    {
      ...{ network, rpcUrl, gasKey, refundKey, pollMs: 20, headMostSeconds: 90 },
      ...{ walletFactories: [], settlementWeiMost: 10n ** 16n },
    },
    now,
  )
  const client = createZenditClient({
    baseUrl: `${supplierUrl}/v1`,
    apiKey: supplierKey,
    timeoutMs: 10_000,
  })
  const { books: processor } = connectCoins(
    { processor: settings.processor, invoiceMinutes: 30 },
    { ...storage, now },
  )
  const present = { pay_to: payTo, refunds: chain.refundWallet }
  const booksNow = async () => ({
    chain: chain.books(await storage.wallets.ours(present)),
    supplier: zenditBooks(client, { now, signal: new AbortController().signal }),
    store: storage.books,
    checkouts: storage.checkoutBooks,
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
    reconcile: async () => reconcile(await booksNow(), look()),
    rebuild: async () => {
      const books = await booksNow()
      return rebuild({ ...books, ...writes }, await reconcile(books, look()))
    },
    wallets: storage.wallets,
    movements: storage.movements,
    close: () => storage.close(),
  }
}

export type StoryBooks = Awaited<ReturnType<typeof openBooks>>
