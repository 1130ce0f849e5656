import { type Books, emptyNotes, type Look, type Notes, type Report } from './books.ts'
import { comparePayments, compareRefunds } from './chain-side.ts'
import { compareLedger, compareOrders, compareSupply } from './store-side.ts'

/**
 * Compares what is on record with the chain and with the supplier, and names every difference.
 *
 * Safe beside a running store: it writes nothing, and the record is asked after the chain and the
 * supplier, so that whatever happens meanwhile is on record before it is missed.
 *
 * @throws when one of the three does not answer: half a comparison would look like a clean one
 */
export async function reconcile(books: Books, look: Look): Promise<Report> {
  const notes = emptyNotes()
  const blocks = await blocksOf(books, look)
  await comparePayments(books, look, notes, blocks)
  await compareRefunds(books, look, notes, blocks)
  await compareSupply(books, notes)
  await compareOrders(books, look, notes, blocks)
  await compareLedger(books, notes)
  return reportOf(notes, blocks, await books.store.ledger())
}

/** Up to the newest block that cannot be dropped any more: what is younger proves nothing yet. */
async function blocksOf({ chain, store }: Books, { fromBlock }: Look) {
  const { safe } = await chain.heads()
  const from = fromBlock ?? (await store.oldestBlock())
  if (from === undefined) {
    throw new Error(
      'No order on record names a block. Say where to begin: npm run reconcile -- --from-block N',
    )
  }
  return { from, to: safe }
}

function reportOf(
  notes: Notes,
  { from, to }: { readonly from: number; readonly to: number },
  ledger: Report['totals']['ledger'],
): Report {
  const { differences, open, lost, unbooked, chain, supplier, orders } = notes
  return {
    from,
    to,
    totals: { ledger, chain, supplier, orders },
    differences,
    open,
    lost,
    unbooked,
  }
}
