import { goodwillReferenceOf } from '../orders/goodwill.ts'
import type { ChainStatement, ChainTransfer, Movements, StoreRecord } from './ports.ts'
import { placeOf } from './sources.ts'

/**
 * How far back to look if nothing on record names a block. The store takes no authorization that is valid for
 * more than ten minutes, so nobody can come back with a much older one.
 */
const lookBackSeconds = 3_600
/** The chain may have moved a payment to another block since it was recorded. */
const marginBlocks = 300

export interface StartupSources {
  readonly chain: Pick<
    ChainStatement,
    'wallets' | 'heads' | 'blockBefore' | 'blockAt' | 'paidBack' | 'refundNonceOf'
  >
  readonly store: Pick<StoreRecord, 'newestBlock' | 'idsOf'>
  readonly movements: Pick<Movements, 'acknowledged'>
}

export interface UnknownRefunds {
  readonly own: readonly ChainTransfer[]
  /** From an earlier wallet after its replacement: whoever has its key can make as many as they like. */
  readonly later: readonly ChainTransfer[]
}

/**
 * Every refund is on record before it is sent, so one that is not proves that the record is older than the chain,
 * or that somebody else has the key. Orders still to be delivered may be among those refunded.
 *
 * What was delivered or given up, plain transfers (operators move their float) and acknowledged transfers do not
 * stop the start. The record is read after the chain, so refunds that another node pays meanwhile are on it.
 *
 * @throws when the chain or the database does not answer
 */
export async function unknownRefunds({
  chain,
  store,
  movements,
}: StartupSources): Promise<UnknownRefunds> {
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
    const references = ids.flatMap((id) => [id, goodwillReferenceOf(id)])
    const nonces = new Set(references.map((reference) => chain.refundNonceOf(reference)))
    unknown.push(...refunds.filter(({ nonce = '' }) => !nonces.has(nonce)))
  }
  if (unknown.length === 0) return { own: [], later: [] }
  const vouched = new Set((await movements.acknowledged()).map(placeOf))
  const replacedAt = await replacements(chain)
  const isLater = ({ from, block }: ChainTransfer) => block >= (replacedAt.get(from) ?? Infinity)
  const open = unknown.filter((refund) => !vouched.has(placeOf(refund)))
  return { own: open.filter((one) => !isLater(one)), later: open.filter(isLater) }
}

/** The first block after the replacement of each earlier refund wallet, where its time is on record. */
async function replacements({
  wallets,
  blockAt,
}: StartupSources['chain']): Promise<ReadonlyMap<string, number>> {
  const blocks = new Map<string, number>()
  const refunds = wallets.filter(({ role }) => role === 'refunds')
  for (const { address, since: from, isPresent } of refunds) {
    const later = refunds.flatMap(({ since }) => (since && since > (from ?? 0) ? [since] : []))
    const [next] = later.sort((one, other) => one.getTime() - other.getTime())
    if (!isPresent && next !== undefined) blocks.set(address, await blockAt(next))
  }
  return blocks
}

/** `unknownRefunds` of an empty database, which is not asked. */
export async function refundsBefore(
  chain: StartupSources['chain'],
): Promise<readonly ChainTransfer[]> {
  const store = { newestBlock: async () => undefined, idsOf: async () => [] }
  const { own } = await unknownRefunds({
    chain,
    store,
    movements: { acknowledged: async () => [] },
  })
  return own
}

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
