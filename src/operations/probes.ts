import type { Vitals } from '../health/vitals.ts'
import type { Supplier } from '../orders/ports.ts'
import type { Rail } from '../payments/ports.ts'
import { repeat } from '../primitives/repeat.ts'

/** Looks at the parts that purchases need, even while nobody buys. Each throws when it is not well. */
export interface Probes {
  readonly database: () => Promise<unknown>
  readonly chain: () => Promise<unknown>
  readonly supplier: () => Promise<unknown>
}

const probeEveryMs = 10_000

/** Probes at once and then every 10 s, until the signal says stop. */
export function probing(probes: Probes, vitals: Vitals, signal: AbortSignal): Promise<void> {
  const task = async () => {
    await Promise.all(
      Object.entries(probes).map(async ([part, probe]) => {
        await noted(part as keyof Probes, vitals, probe)
      }),
    )
    return true
  }
  return repeat(task, { everyMs: probeEveryMs, retryMs: probeEveryMs, signal })
}

/** What a look at a part saw, or undefined when it failed. Either way it tells of the part's health. */
export async function noted<T>(
  part: keyof Probes,
  vitals: Pick<Vitals, 'note'>,
  look: () => Promise<T>,
): Promise<T | undefined> {
  try {
    const seen = await look()
    vitals.note(part, true)
    return seen
  } catch (error) {
    vitals.note(part, false, shortly(error))
    return undefined
  }
}

/** The same supplier, and what its answers say of its health. A refusal is an answer like another. */
export function watchedSupplier(supplier: Supplier, vitals: Vitals): Supplier {
  return {
    ...supplier,
    place: (order) => watched('supplier', vitals, supplier.place(order)),
    lookup: (kind, reference) => watched('supplier', vitals, supplier.lookup(kind, reference)),
  }
}

/** The same rail, and what its answers say of the chain's health. */
export function watchedRail(rail: Rail, vitals: Vitals): Rail {
  return { ...rail, check: (tender) => watched('chain', vitals, rail.check(tender)) }
}

async function watched<T extends { outcome: string; reason?: string }>(
  part: 'supplier' | 'chain',
  vitals: Vitals,
  call: Promise<T>,
): Promise<T> {
  const answer = await call
  vitals.note(part, answer.outcome !== 'unknown', answer.reason ?? '')
  return answer
}

function shortly(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return line.slice(0, 200)
}
