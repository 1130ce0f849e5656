import type { Health } from '../health/health.ts'
import type { Part, PartHealth } from '../health/signals.ts'

/** A part of the store, or one of several suppliers, went down or came up again. */
export interface PartEvent {
  readonly name: 'part_down' | 'part_up'
  readonly part: Part
  readonly supplier?: string
  readonly detail: string
}

/**
 * Reports to the operator, once each, when a part goes down and when it is up again. A part that is down at
 * the start is reported too.
 */
export function partChanges(
  health: Pick<Health, 'parts' | 'suppliers'>,
  report: (event: PartEvent) => void,
): () => void {
  const down = new Set<string>()
  const look = (named: Pick<PartEvent, 'part' | 'supplier'>, { state, detail }: PartHealth) => {
    const key = JSON.stringify(named)
    const wasDown = down.has(key)
    if ((state === 'down') === wasDown) return
    if (wasDown) down.delete(key)
    else down.add(key)
    report({ name: wasDown ? 'part_up' : 'part_down', ...named, detail })
  }
  return () => {
    for (const [part, state] of Object.entries(health.parts())) look({ part: part as Part }, state)
    const suppliers = health.suppliers()
    // A single supplier is the part itself.
    if (suppliers.size === 1) return
    for (const [supplier, state] of suppliers) look({ part: 'supplier', supplier }, state)
  }
}
