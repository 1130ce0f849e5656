import type { Usdc } from '../primitives/money.ts'
import type { Part, PartHealth, Signals } from './signals.ts'
import { signalsOf } from './signals.ts'

/** How far back outcomes count. */
const windowMs = 5 * 60_000
/** Outcomes kept per part; the newest matter. */
const keptMost = 200
/** This many failures without one success among them is an outage. */
const outageAfter = 3
/** The catalog is read every 15 minutes; after this long without one it is old. */
const catalogOldMs = 60 * 60_000

interface Outcome {
  readonly at: number
  readonly ok: boolean
  readonly detail: string
}

/** The parts whose health is told by how their calls end. */
type Called = Exclude<Part, 'catalog' | 'refunds'>

/** What refunds are paid from, and what may have to be paid back. */
export interface Cover {
  readonly float: Usdc
  readonly exposure: Usdc
}

export interface Tally {
  readonly good: number
  readonly failed: number
}

/** What the parts of the store did in the last minutes. */
export interface Vitals {
  note(part: Called, ok: boolean, detail?: string): void
  /** A catalog was read from the supplier, at that moment. */
  noteCatalog(readAt: Date): void
  /** Both as they were seen just now; undefined when they could not be seen. */
  noteCover(cover: Cover | undefined): void
  cover(): Cover | undefined
  /** Stops purchases for this reason, until it is called without one. */
  hold(reason: string | undefined): void
  parts(): Readonly<Record<Part, PartHealth>>
  /** How its calls ended in the last minutes: what `parts` and `signals` are made of. */
  tally(part: Called): Tally
  signals(): Signals
}

export function createVitals(now: () => Date): Vitals {
  const outcomes: Record<Called, Outcome[]> = {
    supplier: [],
    chain: [],
    database: [],
  }
  let catalogReadAt: Date | undefined
  let cover: Cover | undefined
  let held: string | undefined

  function recent(part: Called): readonly Outcome[] {
    const since = now().getTime() - windowMs
    return outcomes[part].filter(({ at }) => at >= since)
  }

  function tally(part: Called): Tally {
    const all = recent(part)
    const good = all.filter(({ ok }) => ok).length
    return { good, failed: all.length - good }
  }

  function parts() {
    return {
      supplier: healthOf(recent('supplier')),
      chain: healthOf(recent('chain')),
      database: healthOf(recent('database')),
      catalog: catalogHealth(catalogReadAt, now()),
      refunds: held === undefined ? coverHealth(cover) : down(held),
    }
  }

  return {
    note(part, ok, detail = '') {
      outcomes[part] = [...outcomes[part].slice(1 - keptMost), { at: now().getTime(), ok, detail }]
    },
    noteCatalog(readAt) {
      catalogReadAt = readAt
    },
    noteCover(seen) {
      cover = seen
    },
    cover: () => cover,
    hold(reason) {
      held = reason
    },
    parts,
    tally,
    signals: () => signalsOf(parts(), now()),
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

/** What could not be seen is no reason to stop: the chain and the database tell of themselves. */
function coverHealth(cover: Cover | undefined): PartHealth {
  if (cover === undefined || cover.float >= cover.exposure) return { state: 'healthy', detail: '' }
  const detail = `Refunds may need ${cover.exposure} atomic USDC, and their wallet holds ${cover.float}.`
  return down(detail)
}

function down(detail: string): PartHealth {
  return { state: 'down', detail }
}
