import type { ChainStatement, ChainTransfer, Movements, StoreRecord } from './ports.ts'
import { placeOf } from './sources.ts'

/**
 * How far back is looked where nothing on record names a block. No payment is taken whose
 * authorization holds longer than ten minutes, so nobody can come back with one that is much older.
 */
const lookBackSeconds = 3_600
/** A chain may have moved a payment to another block since it was written down. */
const marginBlocks = 300

export interface StartupSources {
  readonly chain: Pick<ChainStatement, 'heads' | 'blockBefore' | 'paidBack' | 'refundNonceOf'>
  readonly store: Pick<StoreRecord, 'newestBlock' | 'idsOf'>
  readonly movements: Pick<Movements, 'acknowledged'>
}

/**
 * Refunds on the chain that the record knows nothing of. Every refund is granted and on record
 * before it is sent, so one of them proves that the record is older than the chain, or that
 * somebody else has the key. Orders that are still to be delivered may then be among the refunded.
 *
 * An order that was delivered or given up can never be delivered any more, so a refund of it needs
 * no mending first. A plain transfer is no refund: operators move their float, and it is left to
 * the reconciliation. What a person vouches for has been looked at: whoever took the key of an earlier
 * wallet must not be able to keep the store from starting.
 *
 * The record is asked after the chain, so what another node pays back meanwhile is on it.
 *
 * @throws when the chain or the database does not answer
 */
export async function unknownRefunds({
  chain,
  store,
  movements,
}: StartupSources): Promise<readonly ChainTransfer[]> {
  const [known, { newest }] = await Promise.all([store.newestBlock(), chain.heads()])
  const since =
    known === undefined
      ? await chain.blockBefore(lookBackSeconds)
      : Math.min(known, newest) - marginBlocks
  const unknown: ChainTransfer[] = []
  for await (const transfers of chain.paidBack(Math.max(0, since), newest)) {
    const refunds = transfers.filter(({ nonce }) => nonce !== undefined)
    if (refunds.length === 0) continue
    const ids = await store.idsOf([...new Set(refunds.map(({ to }) => to))], 'decided')
    const nonces = new Set(ids.map((id) => chain.refundNonceOf(id)))
    unknown.push(...refunds.filter(({ nonce = '' }) => !nonces.has(nonce)))
  }
  if (unknown.length === 0) return unknown
  const vouched = new Set((await movements.acknowledged()).map(placeOf))
  return unknown.filter((refund) => !vouched.has(placeOf(refund)))
}

/** What is on record in a database that no store was opened in. */
const nothing: Pick<StartupSources, 'store' | 'movements'> = {
  store: { newestBlock: async () => undefined, idsOf: async () => [] },
  movements: { acknowledged: async () => [] },
}

/** `unknownRefunds` of an empty database, which is not asked. */
export function refundsBefore(chain: StartupSources['chain']): Promise<readonly ChainTransfer[]> {
  return unknownRefunds({ chain, ...nothing })
}

/** What an operator reads when the store refuses to start. */
export function refusalText(unknown: readonly ChainTransfer[]): string {
  const [first] = unknown
  const more = unknown.length > 1 ? ` and ${unknown.length - 1} more` : ''
  return (
    `The refund wallet paid ${first?.to} in transaction ${first?.transaction}${more}, and no record here ` +
    'knows of it. The database is older than the chain (was it restored from a backup?), or ' +
    'somebody else has REFUND_KEY. Nothing is sold and nothing is delivered. See what differs ' +
    'with: npm run reconcile, and bring the record up to date with: npm run reconcile -- --rebuild'
  )
}
