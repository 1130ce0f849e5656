import { type Usdc, usdc } from '../lib/money.ts'
import type { FundsRefusal } from './funds.ts'
import {
  healthOf,
  keepOutcomes,
  type PartHealth,
  type Parts,
  type Signals,
  signalsOf,
  type Tally,
} from './signals.ts'
import { keepSuppliers } from './suppliers.ts'
import {
  type Means,
  type Unsold,
  unsold,
  type Verdict,
  verdictOf,
  verdictOfAll,
} from './verdict.ts'

/** After a refused write the database counts as down for this long; then it is tried again. */
const writeRetryMs = 3_000
/** The catalog is refreshed every 15 minutes and counts as stale after this long. */
const catalogStaleMs = 60 * 60_000

/** The parts whose health follows from the outcomes of their calls. */
type MeasuredPart = 'chain' | 'database'

/** The health of the store's parts over the last five minutes. */
export interface Health {
  note(part: MeasuredPart, ok: boolean, detail?: string): void
  noteSupplier(name: string, ok: boolean, detail?: string): void
  /** The database answered but refused a write, because it is full or a standby. */
  noteUnwritable(detail: string): void
  /** A catalog was read from the suppliers at this time. */
  noteCatalog(readAt: Date): void
  /**
   * Sets the current funds for purchases and refunds.
   *
   * @param since when the reading of the open orders began; orders opened later may be missing from them
   */
  noteMeans(means: Means, since?: Date): void
  /** A supplier refused a purchase for insufficient funds. */
  noteFundsRefusal(supplier: string, refusal: FundsRefusal): void
  /** The supplier delivered the purchase with this reference. */
  noteFundsTaken(supplier: string, reference: string): void
  /** Stops purchases for this reason, until called with undefined. */
  hold(reason: string | undefined): void
  parts(): Parts
  /** The health of each supplier that has been checked. */
  suppliers(): ReadonlyMap<string, PartHealth>
  /** Returns why a purchase of this amount at this supplier is refused; see `unsold`. */
  unsold(amount: Usdc, supplier: string, isFromFloat: boolean): Unsold | undefined
  /**
   * Sells a purchase that is paid in USDC, or returns why it is refused. The amount is deducted from the
   * bounds until its order shows in the means, so that concurrent purchases do not count on the same money.
   *
   * @param reference the reference of the purchase at the supplier
   */
  sell(reference: string, amount: Usdc, supplier: string): Unsold | undefined
  /** The order of this sale is on record. */
  noteOpened(reference: string): void
  /** Cancels a sale that did not become an order, unless an equal request has opened one for it. */
  unsell(reference: string): void
  /** The current upper bounds on the price of a purchase, the tightest first. */
  bounds(): Verdict['bounds']
  /** The last known means; undefined at first. */
  means(): Means | undefined
  /** Counts the recent outcomes of each supplier's calls, from which `parts` and `signals` are computed. */
  tallies(): ReadonlyMap<string, Tally>
  signals(): Signals
}

export function createHealth(now: () => Date): Health {
  const { parts, ...notes } = keepParts(now)
  const suppliers = keepSuppliers(now)
  let means: Means | undefined
  let held: string | undefined
  const sales = createSales(now)

  function verdictAt(name: string): Verdict {
    const supplier = suppliers.factsOf(name, means, sales.total(name))
    return verdictOf(
      { parts: parts(), means, holdReason: held, sold: sales.total(), supplier },
      now(),
    )
  }

  function verdict(): Verdict {
    // Before the first check no supplier is known, and nothing is sold.
    const [first = '', ...others] = suppliers.names()
    const all = [first, ...others].map((name) => [name, verdictAt(name)] as const)
    return verdictOfAll(new Map(all), now())
  }

  function unsoldAt(amount: Usdc, supplier: string, isFromFloat: boolean): Unsold | undefined {
    const reason = unsold(verdictAt(supplier), amount, isFromFloat)
    const isPaused = reason?.type === 'paused' && verdict().action !== 'stop'
    return isPaused ? { type: 'supplier_paused' } : reason
  }

  return {
    ...notes,
    noteSupplier: suppliers.note,
    noteMeans(seen, since = now()) {
      means = seen
      sales.forgetBefore(since)
      suppliers.noteMeans(seen)
    },
    noteFundsRefusal: suppliers.noteRefusal,
    noteFundsTaken: suppliers.noteTaken,
    hold(reason) {
      held = reason
    },
    parts: () => verdict().parts,
    suppliers: () =>
      new Map(suppliers.names().map((name) => [name, verdictAt(name).parts.supplier])),
    unsold: unsoldAt,
    sell(reference, amount, supplier) {
      const reason = sales.has(reference) ? undefined : unsoldAt(amount, supplier, true)
      if (reason) return reason
      sales.add(reference, amount, supplier)
      suppliers.noteSold(supplier, reference)
      return undefined
    },
    noteOpened: sales.noteOpened,
    unsell(reference) {
      if (sales.remove(reference)) suppliers.noteUnsold(reference)
    },
    bounds: () => verdict().bounds,
    means: () => means,
    tallies: suppliers.tallies,
    signals: () => signalsOf(verdict().parts, now()),
  }
}

/** The parts that the purchases of all suppliers need. */
function keepParts(now: () => Date) {
  const calls = { chain: keepOutcomes(now), database: keepOutcomes(now) }
  let unwritable: { readonly at: number; readonly detail: string } | undefined
  let catalogReadAt: Date | undefined

  /** Health checks only read, so they succeed while writes fail. Refused writes are tracked separately. */
  function databaseHealth(): PartHealth {
    if (unwritable === undefined || now().getTime() - unwritable.at > writeRetryMs) {
      return healthOf(calls.database.recent())
    }
    return { state: 'down', detail: unwritable.detail }
  }

  return {
    note: (part: MeasuredPart, ok: boolean, detail?: string) => calls[part].note(ok, detail),
    noteUnwritable(detail: string) {
      unwritable = { at: now().getTime(), detail }
    },
    noteCatalog(readAt: Date) {
      catalogReadAt = readAt
    },
    parts: () => ({
      chain: healthOf(calls.chain.recent()),
      database: databaseHealth(),
      catalog: catalogHealth(catalogReadAt, now()),
    }),
  }
}

function catalogHealth(readAt: Date | undefined, now: Date): PartHealth {
  if (readAt === undefined) return { state: 'down', detail: 'No catalog has been read yet.' }
  const old = now.getTime() - readAt.getTime() > catalogStaleMs
  return old
    ? { state: 'degraded', detail: `The catalog was last read at ${readAt.toISOString()}.` }
    : { state: 'healthy', detail: '' }
}

interface Sale {
  readonly amount: Usdc
  readonly supplier: string
  readonly openedAt?: Date
}

/** The sales of this process that may not show in the means yet, by the reference at the supplier. */
function createSales(now: () => Date) {
  const sold = new Map<string, Sale>()
  return {
    add: (reference: string, amount: Usdc, supplier: string) =>
      void sold.set(reference, { amount, supplier }),
    has: (reference: string) => sold.has(reference),
    /** The order of this sale is on record, so the next reading of the means includes it. */
    noteOpened(reference: string) {
      const sale = sold.get(reference)
      if (sale) sold.set(reference, { ...sale, openedAt: now() })
    },
    /** @returns false if its order is on record */
    remove: (reference: string) =>
      sold.get(reference)?.openedAt === undefined && sold.delete(reference),
    /** Forgets sales whose orders were on record before this time: the means include them. */
    forgetBefore(then: Date) {
      for (const [reference, { openedAt }] of sold) {
        if (openedAt && openedAt < then) sold.delete(reference)
      }
    },
    /** @param supplier only what was sold of its offers */
    total(supplier?: string): Usdc {
      const of = [...sold.values()].filter((one) => !supplier || one.supplier === supplier)
      return usdc(of.reduce((sum, { amount }) => sum + amount, 0n))
    },
  }
}
