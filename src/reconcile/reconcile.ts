import { compareGoodwill, comparePayments, compareRefunds } from './compare-chain.ts'
import { compareCheckouts } from './compare-invoices.ts'
import { compareLedger, compareOrders, compareSupply } from './compare-store.ts'
import {
  emptyNotes,
  type Look,
  type Notes,
  placeOf,
  type Report,
  type Sources,
  walletKey,
} from './sources.ts'

/**
 * Writes nothing, and reads the record after the chain and the suppliers, so that whatever happens meanwhile is on
 * record before it could be missed.
 *
 * @throws when one of them does not answer, because half a comparison would look like a clean one
 */
export async function reconcile(sources: Sources, look: Look): Promise<Report> {
  const notes = emptyNotes()
  for (const one of await sources.movements.acknowledged())
    notes.acknowledged.set(placeOf(one), one)
  const blocks = await blocksOf(sources, look)
  await noteWallets(sources.chain, notes)
  await comparePayments(sources, look, notes, blocks)
  await compareRefunds(sources, look, notes, blocks)
  await compareSupply(sources, notes)
  await compareOrders(sources, look, notes, blocks)
  await compareLedger(sources, notes)
  await compareGoodwill(sources, look, notes)
  await compareCheckouts(sources, look, notes)
  const [ledger, invoices, coins] = await Promise.all([
    sources.store.ledger('x402'),
    sources.store.ledger('btcpay'),
    sources.checkouts.ledger(),
  ])
  const { differences, open, notChecked, silent, lost, unbooked, movements } = notes
  const { chain, goodwill, supplier, orders, checkouts } = notes
  const sums = { chain, goodwill, supplier, orders, checkouts }
  return {
    ...blocks,
    totals: { ...sums, ledger, invoices, coins: Object.fromEntries(coins) },
    ...{ differences, open, notChecked, silent, lost, unbooked },
    misnamed: misnamed(notes, look),
    movements: [...movements.values()],
    earlier: await earlierOf(sources.chain),
  }
}

/** Younger blocks prove nothing yet. */
async function blocksOf({ chain, store }: Sources, { fromBlock }: Look) {
  const { safe } = await chain.heads()
  const from = fromBlock ?? (await store.oldestBlock())
  if (from === undefined) {
    throw new Error(
      'No order on record names a block. Say where to begin: kiosk402 reconcile --from-block N',
    )
  }
  return { from, to: safe }
}

async function noteWallets(chain: Sources['chain'], notes: Notes): Promise<void> {
  for (const { role, address, since } of chain.wallets) {
    notes.wallets.set(walletKey(role, address), since ? await chain.blockAt(since) : 0)
  }
}

async function earlierOf({ wallets, holds }: Sources['chain']): Promise<Report['earlier']> {
  const earlier = wallets.filter(({ isPresent }) => !isPresent)
  return Promise.all(
    earlier.map(async ({ role, address }) => ({ role, address, holds: await holds(address) })),
  )
}

function misnamed({ newest }: Notes, { idsFor }: Look) {
  const isNamed = newest && idsFor(newest.payment).some(({ id }) => id === newest.id)
  return isNamed ? undefined : newest?.id
}
