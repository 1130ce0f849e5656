import type { Part, PartHealth, Parts } from '../health/signals.ts'
import type { Vitals } from '../health/vitals.ts'

/** A part of the store went down, or is up again. */
export interface PartHappening {
  readonly name: 'part_down' | 'part_up'
  readonly part: Part
  readonly detail: string
}

/**
 * Tells operators when a part goes down and when it is up again, once each. What is down when the
 * store starts is told too.
 */
export function partChanges(
  vitals: Pick<Vitals, 'parts'>,
  report: (happening: PartHappening) => void,
): () => void {
  let before: Parts | undefined
  return () => {
    const now = vitals.parts()
    for (const [name, health] of Object.entries(now)) {
      const part = name as Part
      const wasDown = isDown(before?.[part])
      if (isDown(health) === wasDown) continue
      report({ name: wasDown ? 'part_up' : 'part_down', part, detail: health.detail })
    }
    before = now
  }
}

function isDown(health: PartHealth | undefined): boolean {
  return health?.state === 'down'
}
