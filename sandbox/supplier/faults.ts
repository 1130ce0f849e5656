import { z } from 'zod'

/**
 * How the supplier misbehaves, for tests. `only` limits this to paths that contain the text.
 * - `down`: every answer is 503. `drop`: connections are cut without an answer.
 * - `slow`: every answer waits `delayMs`.
 * - `partial`: offer lists are empty from offset `after` on, but `total` is unchanged.
 * - `lie`: offer lists report this `total`.
 * - `shift`: for the next `reads` pages after the first of a list, its first offer has moved to its end.
 * - `shrink`: only the first `share` of each offer list exists.
 */
export const faultSchema = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('ok') }),
  z.object({ mode: z.literal('down'), only: z.string().default('') }),
  z.object({ mode: z.literal('drop'), only: z.string().default('') }),
  z.object({
    mode: z.literal('slow'),
    only: z.string().default(''),
    delayMs: z.int().min(0).max(600_000).default(2000),
  }),
  z.object({ mode: z.literal('partial'), after: z.int().min(0).default(1024) }),
  z.object({ mode: z.literal('lie'), total: z.int().min(0) }),
  z.object({ mode: z.literal('shift'), reads: z.int().min(0).default(1) }),
  z.object({ mode: z.literal('shrink'), share: z.number().min(0).max(1).default(0.3) }),
])

export type Fault = z.infer<typeof faultSchema>

export interface Faults {
  get(): Fault
  set(fault: Fault): void
}

export function createFaults(): Faults {
  let current: Fault = { mode: 'ok' }
  return {
    get: () => current,
    set(fault) {
      current = fault
    },
  }
}
