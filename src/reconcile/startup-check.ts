import { StartRefused } from '../lib/errors.ts'
import { type LoopDeps, repeat, trying, within } from '../lib/scheduling.ts'
import { goodwillReferenceOf } from '../orders/goodwill.ts'
import type { ChainStatement, ChainTransfer, Movements, StoreRecord } from './ports.ts'
import { placeOf } from './sources.ts'

/** If nothing on record names a block. No authorization is valid for more than ten minutes. */
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

const startWaitMs = 10_000
const retryMs = 2_000
const maxRetryMs = 10_000

export class RecordTooOld extends StartRefused {
  override readonly name = 'RecordTooOld'
}

export interface StartupDeps extends LoopDeps {
  readonly report: (event: EarlierWalletEvent) => void
}

export interface EarlierWalletEvent {
  readonly name: 'earlier_wallet_used'
  readonly transfers: number
  readonly wallet: string
  readonly transaction: string
}

/**
 * Before an empty database is set up, so that a refused start leaves it empty. If the chain does not answer in time,
 * `checkStartup` checks it again.
 *
 * @throws RecordTooOld
 */
export async function requireNoRefunds(chain: StartupSources['chain']): Promise<void> {
  const empty = {
    chain,
    store: { newestBlock: async () => undefined, idsOf: async () => [] },
    movements: { acknowledged: async () => [] },
  }
  const refunds = within(startWaitMs, unknownRefunds(empty), 'The chain did not answer.')
  const { own } = await refunds.catch(() => ({ own: [] }))
  if (own.length > 0) throw new RecordTooOld(refusalText(own))
}

/**
 * Checks before any sale or sweep that every refund on the chain is on record. While the chain does not answer, the
 * store accepts no purchases; if it answers late that a refund is missing, that stays so until the operator has
 * acknowledged it.
 *
 * @returns `passed`: false when the store stops first
 * @throws RecordTooOld when the chain answers in time
 */
export async function checkStartup(
  sources: StartupSources,
  health: { hold(reason: string | undefined): void },
  { signal, failed, report }: StartupDeps,
) {
  const settled = new AbortController()
  const refused = Promise.withResolvers<RecordTooOld>()
  let isPassed = false
  let isLate = false
  const look = async () => {
    const { own, later } = await unknownRefunds(sources)
    if (own.length > 0) {
      const error = new RecordTooOld(refusalText(own))
      health.hold(error.message)
      refused.resolve(error)
      if (isLate) failed('start guard', error)
      return
    }
    const [first] = later
    if (first !== undefined) {
      const { from: wallet, transaction } = first
      report({ name: 'earlier_wallet_used', transfers: later.length, wallet, transaction })
    }
    isPassed = true
    health.hold(undefined)
    settled.abort()
  }
  health.hold('The chain has not answered yet whether every refund on it is on record.')
  const until = AbortSignal.any([signal, settled.signal])
  const task = trying('start guard', look, failed)
  const passed = repeat(task, { everyMs: maxRetryMs, retryMs, signal: until }).then(() => isPassed)
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(timeout.resolve, startWaitMs)
  const first = await Promise.race([refused.promise, passed, timeout.promise])
  clearTimeout(timer)
  isLate = true
  if (first instanceof RecordTooOld) {
    settled.abort()
    throw first
  }
  return { passed }
}

/**
 * Every refund is on record before it is sent, so one that is not proves that the record is older than the chain, or
 * that somebody else has the key. Plain and acknowledged transfers do not stop the start, nor does what was delivered
 * or given up. The record is read after the chain, so refunds that another node pays meanwhile are on it.
 *
 * @returns `later`: from an earlier wallet after its replacement; whoever has its key can make as many as they like
 */
async function unknownRefunds({ chain, store, movements }: StartupSources) {
  const [newestOnRecord, { newest }] = await Promise.all([store.newestBlock(), chain.heads()])
  const since =
    newestOnRecord === undefined
      ? await chain.blockBefore(lookBackSeconds)
      : Math.min(newestOnRecord, newest) - marginBlocks
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
  const unacknowledged = unknown.filter((refund) => !vouched.has(placeOf(refund)))
  return {
    own: unacknowledged.filter((one) => !isLater(one)),
    later: unacknowledged.filter(isLater),
  }
}

async function replacements({
  wallets,
  blockAt,
}: StartupSources['chain']): Promise<ReadonlyMap<string, number>> {
  const blocks = new Map<string, number>()
  for (const { role, address, until, isPresent } of wallets) {
    if (role === 'refunds' && !isPresent && until) blocks.set(address, await blockAt(until))
  }
  return blocks
}

function refusalText(unknown: readonly ChainTransfer[]): string {
  const [first] = unknown
  const more = unknown.length > 1 ? ` and ${unknown.length - 1} more` : ''
  return (
    `The refund wallet paid ${first?.to} in transaction ${first?.transaction}${more}, and no record here ` +
    'knows of it. The database is older than the chain (was it restored from a backup?), or ' +
    'somebody else has REFUND_KEY. Nothing is sold and nothing is delivered. See what differs ' +
    'with: kiosk402 reconcile, and bring the record up to date with: kiosk402 reconcile --rebuild'
  )
}
