import { createHash } from 'node:crypto'
import type { OrderId } from '../../src/lib/ids.ts'
import { supplierReferenceOf } from '../../src/orders/order.ts'
import type { Scheduler } from './scheduler.ts'

interface Noted {
  readonly method: string
  readonly given: readonly unknown[]
  readonly line: { readonly part: string }
}

/** Everything that happened, in order. It depends on the seed alone. */
export interface Trace {
  note(who: string, call: Noted, fault: string, answer: PromiseSettledResult<unknown>): void
  /** Records an event that is not a call. */
  tell(what: string, order?: OrderId): void
  /** Records that this nonce or reference belongs to that order. */
  knows(name: string, order: OrderId): void
  /** How often each event happened. */
  readonly counts: ReadonlyMap<string, number>
  digest(): string
  linesOf(order: OrderId | undefined): readonly string[]
}

export function newTrace(time: Scheduler): Trace {
  const since = time.time()
  const hash = createHash('sha256')
  const lines: { readonly text: string; readonly order: OrderId | undefined }[] = []
  const names = new Map<string, OrderId>()
  const counts = new Map<string, number>()

  const count = (what: string) => counts.set(what, (counts.get(what) ?? 0) + 1)

  function write(who: string, what: string, order: OrderId | undefined): void {
    const seconds = ((time.time() - since) / 1_000).toFixed(3).padStart(11)
    const text = `${seconds} ${who.padEnd(12)} ${order ?? ''} ${what}`
    lines.push({ text, order })
    hash.update(`${text}\n`)
  }

  return {
    counts,
    knows: (name, order) => names.set(name, order).set(supplierReferenceOf(order), order),

    note(who, { method, given, line }, fault, answer) {
      count('calls')
      if (fault !== 'none') count(`${line.part} ${fault}`)
      const named = given.flatMap(namesIn).flatMap((name) => names.get(name) ?? [])
      const ended = answer.status === 'rejected' ? String(answer.reason) : wordOf(answer.value)
      // Idle sweeps are not recorded.
      if (method === 'claimDue' && ended === '') return
      write(who, `${method} ${fault === 'none' ? '' : `[${fault}] `}→ ${ended}`, named[0])
    },

    tell(what, order) {
      count(what.split(':')[0] ?? what)
      write('*', what, order)
    },

    digest: () => hash.copy().digest('hex').slice(0, 16),
    linesOf: (order) =>
      lines.filter((line) => line.order === order || !line.order).map(({ text }) => text),
  }
}

/** The texts of the conditions that hold. */
export function faultsIn(cases: readonly (readonly [unknown, string])[]): string[] {
  return cases.flatMap(([isCase, what]) => (isCase ? [what] : []))
}

/** The ids, references and nonces in an argument. */
function namesIn(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  const { id, order, reference, nonce } = value as Readonly<Record<string, unknown>>
  return [id, order, reference, nonce].filter((name) => typeof name === 'string')
}

/** An answer as short text. */
function wordOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(wordOf).join(' ')
  if (typeof value !== 'object' || value === null) return String(value ?? '')
  const { outcome, won, isNew, state, version, record, order, payout } = value as Readonly<
    Record<string, unknown>
  >
  const paid = payout ? (payout as { state: string }).state : undefined
  const inner = [record, order].filter((one) => typeof one === 'object').map(wordOf)
  const parts = [
    outcome,
    won === false && 'lost',
    isNew === false && 'not new',
    state,
    paid,
    version,
  ]
  return [...parts, ...inner].filter((part) => part !== undefined && part !== false).join(' ')
}
