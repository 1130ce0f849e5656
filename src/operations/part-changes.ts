import type { Health } from '../health/health.ts'
import type { Part, PartHealth, Parts } from '../health/signals.ts'

/** A part of the store went down, or is up again. */
export interface PartEvent {
  readonly name: 'part_down' | 'part_up'
  readonly part: Part
  readonly detail: string
}

/**
 * Tells operators when a part goes down and when it is up again, once each. What is down when the
 * store starts is told too.
 */
export function partChanges(
  health: Pick<Health, 'parts'>,
  report: (event: PartEvent) => void,
): () => void {
  let before: Parts | undefined
  return () => {
    const now = health.parts()
    for (const [name, state] of Object.entries(now)) {
      const part = name as Part
      const wasDown = isDown(before?.[part])
      if (isDown(state) === wasDown) continue
      report({ name: wasDown ? 'part_up' : 'part_down', part, detail: state.detail })
    }
    before = now
  }
}

function isDown(state: PartHealth | undefined): boolean {
  return state?.state === 'down'
}
