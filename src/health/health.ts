import { type Usdc, usdc } from '../lib/money.ts'
import {
  type Funds,
  healthOf,
  isStopped,
  keepOutcomes,
  type Means,
  type PartHealth,
  type SupplierFacts,
  signalsOf,
  type Unsold,
  unsold,
  type Verdict,
  verdictOf,
  verdictOfAll,
} from './verdict.ts'

/** After a refused write the database counts as down for this long; then it is tried again. */
const writeRetryMs = 3_000
const catalogStaleMs = 60 * 60_000

export type Health = ReturnType<typeof createHealth>

export function createHealth(now: () => Date) {
  const { parts, ...notes } = keepParts(now)
  const suppliers = keepSuppliers(now)
  const { total, forgetBefore, ...selling } = keepSales(now, suppliers, unsoldAt)
  let means: Means | undefined
  let holdReason: string | undefined

  function verdictAt(name: string): Verdict {
    const supplier = suppliers.factsOf(name, means, total(name))
    return verdictOf({ parts: parts(), means, holdReason, sold: total(), supplier }, now())
  }

  function verdict(): Verdict {
    // Before the first check no supplier is known, and nothing is sold.
    const [first = '', ...others] = suppliers.names()
    return verdictOfAll(new Map([first, ...others].map((name) => [name, verdictAt(name)])))
  }

  function unsoldAt(amount: Usdc, supplier: string, isFromFloat: boolean): Unsold | undefined {
    const reason = unsold(verdictAt(supplier), amount, isFromFloat)
    const isPaused = reason?.type === 'paused' && !isStopped(verdict(), isFromFloat)
    return isPaused ? { type: 'supplier_paused' } : reason
  }

  return {
    ...notes,
    ...suppliers.notes,
    /** @param since when the reading of the open orders began; later orders may be missing from it */
    noteMeans(latest: Means, since = now()) {
      means = latest
      forgetBefore(since)
      suppliers.noteMeans(latest)
    },
    means: () => means,
    hold(reason: string | undefined) {
      holdReason = reason
    },
    ...selling,
    unsold: unsoldAt,
    bounds: () => verdict().bounds,
    parts: () => verdict().parts,
    signals: () => signalsOf(verdict().parts, now()),
    suppliers: () =>
      new Map(suppliers.names().map((name) => [name, verdictAt(name).parts.supplier])),
    tallies: suppliers.tallies,
    takesCoins: () => parts().processor?.state !== 'down',
    /** Whether it takes purchases at all: in coins it may while it takes none in USDC. */
    isSelling: () =>
      !isStopped(verdict(), true) || (parts().processor && !isStopped(verdict(), false)) === true,
  }
}

function keepParts(now: () => Date) {
  const calls = { chain: keepOutcomes(now), database: keepOutcomes(now) }
  let processor: ReturnType<typeof keepOutcomes> | undefined
  let unwritable: { readonly at: number; readonly detail: string } | undefined
  let catalogReadAt: Date | undefined
  let sales = notPaused

  /** Health checks only read, so they succeed while writes fail. */
  function databaseHealth(): PartHealth {
    if (unwritable === undefined || now().getTime() - unwritable.at > writeRetryMs) {
      return healthOf(calls.database.recent())
    }
    return { state: 'down', detail: unwritable.detail }
  }

  return {
    note: (part: 'chain' | 'database', ok: boolean, detail?: string) =>
      calls[part].note(ok, detail),
    noteProcessor(ok: boolean, detail?: string) {
      processor ??= keepOutcomes(now)
      processor.note(ok, detail)
    },
    noteUnwritable(detail: string) {
      unwritable = { at: now().getTime(), detail }
    },
    noteCatalog(readAt: Date) {
      catalogReadAt = readAt
    },
    /** The operator has paused all sales, or those that agents pay for. */
    notePause(isEverything: boolean, isX402: boolean) {
      const some = isX402 ? x402Paused : notPaused
      sales = isEverything ? allPaused : some
    },
    parts: () => ({
      sales,
      chain: healthOf(calls.chain.recent()),
      database: databaseHealth(),
      catalog: catalogHealth(catalogReadAt, now()),
      ...(processor && { processor: healthOf(processor.recent()) }),
    }),
  }
}

const notPaused: PartHealth = { state: 'healthy', detail: '' }
const x402Paused: PartHealth = { state: 'degraded', detail: 'Sales for USDC by x402 are paused.' }
const allPaused: PartHealth = { state: 'down', detail: 'Sales are paused.' }

function catalogHealth(readAt: Date | undefined, now: Date): PartHealth {
  if (readAt === undefined) return { state: 'down', detail: 'No catalog has been read yet.' }
  const old = now.getTime() - readAt.getTime() > catalogStaleMs
  return old
    ? { state: 'degraded', detail: `The catalog was last read at ${readAt.toISOString()}.` }
    : { state: 'healthy', detail: '' }
}

function keepSuppliers(now: () => Date) {
  const watched = () => ({ calls: keepOutcomes(now), funds: watchFunds(now) })
  const all = new Map<string, ReturnType<typeof watched>>()

  function of(name: string) {
    const one = all.get(name) ?? watched()
    all.set(name, one)
    return one
  }

  return {
    notes: {
      noteSupplier: (name: string, ok: boolean, detail?: string) => of(name).calls.note(ok, detail),
      noteFundsRefusal: (name: string, refusal: FundsRefusal) =>
        of(name).funds.noteRefusal(refusal),
      noteFundsTaken: (name: string, reference: string) => of(name).funds.noteTaken(reference),
    },
    noteMeans({ funds }: Means) {
      for (const [name, latest] of funds) {
        const watch = of(name).funds
        if (latest !== 'unbounded') watch.noteBalance(latest)
      }
    },
    noteSold: (name: string, reference: string) => of(name).funds.noteSold(reference),
    noteUnsold(reference: string) {
      for (const { funds } of all.values()) funds.noteUnsold(reference)
    },
    names: (): readonly string[] => [...all.keys()],
    factsOf(name: string, means: Means | undefined, sold: Usdc): SupplierFacts {
      const one = all.get(name)
      return {
        health: healthOf(one?.calls.recent() ?? []),
        funds: means?.funds.get(name),
        isRefusedForFunds: one?.funds.isRefused() ?? false,
        sold,
      }
    },
    tallies: () => new Map(Array.from(all, ([name, { calls }]) => [name, calls.tally()])),
  }
}

interface Sale {
  readonly amount: Usdc
  readonly supplier: string
  readonly openedAt?: Date
}

function keepSales(
  now: () => Date,
  suppliers: ReturnType<typeof keepSuppliers>,
  unsoldAt: (amount: Usdc, supplier: string, isFromFloat: boolean) => Unsold | undefined,
) {
  const sold = new Map<string, Sale>()
  return {
    /** Sells a purchase that is paid in USDC, or returns why not. Its amount counts against the bounds at once. */
    sell(reference: string, amount: Usdc, supplier: string): Unsold | undefined {
      const reason = sold.has(reference) ? undefined : unsoldAt(amount, supplier, true)
      if (reason) return reason
      sold.set(reference, { amount, supplier })
      suppliers.noteSold(supplier, reference)
      return undefined
    },
    noteOpened(reference: string) {
      const sale = sold.get(reference)
      if (sale) sold.set(reference, { ...sale, openedAt: now() })
    },
    /** Cancels a sale, unless an equal request has opened an order for it. */
    unsell(reference: string) {
      if (sold.get(reference)?.openedAt === undefined && sold.delete(reference)) {
        suppliers.noteUnsold(reference)
      }
    },
    /** Forgets sales whose orders were on record before this time: the means include them. */
    forgetBefore(then: Date) {
      for (const [reference, { openedAt }] of sold) {
        if (openedAt && openedAt < then) sold.delete(reference)
      }
    },
    total(supplier?: string): Usdc {
      const of = [...sold.values()].filter((one) => !supplier || one.supplier === supplier)
      return usdc(of.reduce((sum, { amount }) => sum + amount, 0n))
    },
  }
}

export interface FundsRefusal {
  /** The store's own, so that a refusal reported twice counts once. */
  readonly reference: string
  readonly at: Date
  /** The price of the order; undefined until the record has been read. */
  readonly amount?: Usdc
  /** What the supplier may have reserved for other orders at that time and released since. */
  readonly releasedSince?: Usdc
}

/** One refusal may be a purchase that was too large. After the second the wallet counts as empty. */
const maxRefusals = 2
const forgetAfterMs = 60 * 60_000
/** After this long without a refusal one trial purchase is allowed, regardless of the balance. */
const trialAfterMs = 5 * 60_000

/**
 * The supplier refuses purchases although the balance looks sufficient. This ends with a higher balance, one that did
 * not cover that order and those open then, or a trial purchase. Otherwise buyers could stop the store by buying more
 * at once than the wallet holds.
 */
export function watchFunds(now: () => Date) {
  const all = new Map<string, FundsRefusal>()
  const settled = new Set<string>()
  let lastBalance: Usdc | undefined
  /** The last balance before the newest refusal; undefined when none was known. */
  let insufficient: Usdc | undefined
  let trial: { readonly reference: string; readonly at: number } | undefined

  function unexplained(): readonly FundsRefusal[] {
    const since = now().getTime() - forgetAfterMs
    for (const [reference, { at }] of all) {
      if (at.getTime() <= since) all.delete(reference)
      if (!all.has(reference)) settled.delete(reference)
    }
    return [...all.values()].filter(({ reference }) => !settled.has(reference))
  }

  const seemsEmpty = () => unexplained().length >= maxRefusals

  return {
    noteRefusal(refusal: FundsRefusal) {
      if (!all.has(refusal.reference)) insufficient = lastBalance
      all.set(refusal.reference, refusal)
    },
    noteBalance({ available, committed }: Funds) {
      lastBalance = available
      const isMore = insufficient === undefined || available > insufficient
      for (const one of unexplained()) {
        const { reference, amount, releasedSince = 0n } = one
        if (amount === undefined) continue
        // An insufficient balance limits purchases by itself.
        if (isMore || available < committed + releasedSince + amount) settled.add(reference)
      }
    },
    noteSold(reference: string) {
      if (seemsEmpty()) trial = { reference, at: now().getTime() }
    },
    noteUnsold(reference: string) {
      if (trial?.reference === reference) trial = undefined
    },
    noteTaken(reference: string) {
      if (trial?.reference !== reference) return
      for (const one of unexplained()) settled.add(one.reference)
    },
    isRefused(): boolean {
      if (!seemsEmpty()) return false
      const last = Math.max(trial?.at ?? 0, ...unexplained().map(({ at }) => at.getTime()))
      return now().getTime() - last < trialAfterMs
    },
  }
}
