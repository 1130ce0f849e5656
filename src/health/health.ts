import type { Usdc } from '../lib/money.ts'
import { type FundsRefusal, watchFunds } from './funds.ts'
import { keepSales } from './sales.ts'
import type { PartHealth, Parts, Signals } from './signals.ts'
import { signalsOf } from './signals.ts'
import { type Means, type Unsold, unsold, type Verdict, verdictOf } from './verdict.ts'

/** How far back outcomes count. */
const windowMs = 5 * 60_000
/** Outcomes kept per part; the newest matter. */
const maxKept = 200
/** This many failures without one success among them is an outage. */
const outageAfter = 3
/** A database that refused a write is not written to for so long, and is then tried again. */
const unwritableMs = 3_000
/** The catalog is read every 15 minutes; after this long without one it is old. */
const catalogOldMs = 60 * 60_000

interface Outcome {
  readonly at: number
  readonly ok: boolean
  readonly detail: string
}

/** The parts whose health is told by how their calls end. */
type Called = 'supplier' | 'chain' | 'database'

export interface Tally {
  readonly good: number
  readonly failed: number
}

/** What the parts of the store did in the last minutes. */
export interface Health {
  note(part: Called, ok: boolean, detail?: string): void
  /** The database answers, but just refused a write: it is full, or a standby. */
  noteUnwritable(detail: string): void
  /** A catalog was read from the supplier, at that moment. */
  noteCatalog(readAt: Date): void
  /**
   * What the store buys and pays back with, as it was seen just now.
   *
   * @param since when the look began: orders that were opened from then on it may not have seen
   */
  noteMeans(means: Means, since?: Date): void
  /** The supplier refused a purchase because the wallet there does not suffice. */
  noteFundsRefusal(refusal: FundsRefusal): void
  /** The supplier has delivered the purchase of this reference. */
  noteFundsTaken(reference: string): void
  /** Stops purchases for this reason, until it is called without one. */
  hold(reason: string | undefined): void
  parts(): Parts
  /** Why a purchase of this amount is not sold; see `unsold`. */
  unsold(amount: Usdc, isFromFloat: boolean): Unsold | undefined
  /**
   * Sells a purchase that is paid in USDC: until a look sees its order it is taken off the bounds, so
   * that purchases at once are not sold against the same money. Says why not where it is not sold.
   *
   * @param reference what the supplier will know it by
   */
  sell(reference: string, amount: Usdc): Unsold | undefined
  /** Its order is on record. */
  noteOpened(reference: string): void
  /** It was not sold after all: no order was opened for it. */
  unsell(reference: string): void
  /** What a purchase may cost at most just now, the tightest bound first. */
  bounds(): Verdict['bounds']
  /** As they were seen last; undefined until the first look. */
  means(): Means | undefined
  /** How its calls ended in the last minutes: what `parts` and `signals` are made of. */
  tally(part: Called): Tally
  signals(): Signals
}

export function createHealth(now: () => Date): Health {
  const calls = keepOutcomes(now)
  let unwritable: { readonly at: number; readonly detail: string } | undefined
  let catalogReadAt: Date | undefined
  let means: Means | undefined
  let held: string | undefined
  const funds = watchFunds(now)
  const sales = keepSales(now)

  /** Looks that only read go well while the database takes no writes, so those count by themselves. */
  function databaseHealth(): PartHealth {
    if (unwritable === undefined || now().getTime() - unwritable.at > unwritableMs) {
      return healthOf(calls.recent('database'))
    }
    return { state: 'down', detail: unwritable.detail }
  }

  function verdict(): Verdict {
    const parts = {
      supplier: healthOf(calls.recent('supplier')),
      chain: healthOf(calls.recent('chain')),
      database: databaseHealth(),
      catalog: catalogHealth(catalogReadAt, now()),
    }
    const isRefusedForFunds = funds.isRefused()
    return verdictOf({ parts, means, held, isRefusedForFunds, sold: sales.total() }, now())
  }

  return {
    note: calls.note,
    noteUnwritable(detail) {
      unwritable = { at: now().getTime(), detail }
    },
    noteCatalog(readAt) {
      catalogReadAt = readAt
    },
    noteMeans(seen, since = now()) {
      means = seen
      sales.forgetBefore(since)
      if (seen.funds && seen.funds !== 'unbounded') funds.noteBalance(seen.funds)
    },
    noteFundsRefusal: funds.noteRefusal,
    noteFundsTaken: funds.noteTaken,
    hold(reason) {
      held = reason
    },
    parts: () => verdict().parts,
    unsold: (amount, isFromFloat) => unsold(verdict(), amount, isFromFloat),
    sell(reference, amount) {
      const reason = sales.has(reference) ? undefined : unsold(verdict(), amount, true)
      if (reason) return reason
      sales.add(reference, amount)
      funds.noteSold(reference)
      return undefined
    },
    noteOpened: sales.noteOpened,
    unsell(reference) {
      sales.remove(reference)
      funds.noteUnsold(reference)
    },
    bounds: () => verdict().bounds,
    means: () => means,
    tally: calls.tally,
    signals: () => signalsOf(verdict().parts, now()),
  }
}

/** How the calls of each part ended, the newest last. */
function keepOutcomes(now: () => Date) {
  const outcomes: Record<Called, Outcome[]> = { supplier: [], chain: [], database: [] }

  function recent(part: Called): readonly Outcome[] {
    const since = now().getTime() - windowMs
    return outcomes[part].filter(({ at }) => at >= since)
  }

  return {
    recent,
    note(part: Called, ok: boolean, detail = '') {
      outcomes[part] = [...outcomes[part].slice(1 - maxKept), { at: now().getTime(), ok, detail }]
    },
    tally(part: Called): Tally {
      const all = recent(part)
      const good = all.filter(({ ok }) => ok).length
      return { good, failed: all.length - good }
    },
  }
}

/** Down while the newest outcomes are all failures, degraded while many are. */
function healthOf(recent: readonly Outcome[]): PartHealth {
  const failures = recent.filter(({ ok }) => !ok)
  const newest = recent.slice(-outageAfter)
  if (newest.length === outageAfter && newest.every(({ ok }) => !ok)) {
    return { state: 'down', detail: newest.at(-1)?.detail ?? '' }
  }
  if (failures.length * 4 > recent.length) {
    return { state: 'degraded', detail: failures.at(-1)?.detail ?? '' }
  }
  return { state: 'healthy', detail: '' }
}

function catalogHealth(readAt: Date | undefined, now: Date): PartHealth {
  if (readAt === undefined) return { state: 'down', detail: 'No catalog was read yet.' }
  const old = now.getTime() - readAt.getTime() > catalogOldMs
  return old
    ? { state: 'degraded', detail: `The catalog was last read at ${readAt.toISOString()}.` }
    : { state: 'healthy', detail: '' }
}
