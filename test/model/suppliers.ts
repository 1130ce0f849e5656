import type { Manner } from './supplier.ts'

export const suppliers = {
  'at-once': { endsAfterMs: 0 },
  slowly: { endsAfterMs: 90_000 },
  'shows-late': { hiddenMs: 8_000, endsAfterMs: 4_000 },
  'loses-first': { lost: 1, endsAfterMs: 0 },
  'loses-all': { lost: Infinity },
  declines: { declines: true },
  'fails-later': { endsAfterMs: 40_000, fails: true },
  'fails-after-expiry': { endsAfterMs: 800_000, fails: true },
  hangs: {},
  'delivers-after-expiry': { endsAfterMs: 700_000 },
  'delivers-after-grace': { endsAfterMs: 7 * 3_600_000 },
  'accepts-and-hides': { hiddenMs: 200_000, endsAfterMs: 300_000 },
  'hides-past-expiry': { hiddenMs: 750_000, endsAfterMs: 700_000 },
  'refuses-repeats': { lostAnswers: 1, refusesRepeats: true, hiddenMs: 40_000, endsAfterMs: 0 },
  'takes-unseen': {
    lostAnswers: Infinity,
    refusesRepeats: true,
    hiddenMs: 400_000,
    endsAfterMs: 0,
  },
  'keeps-returned': { endsAfterMs: 700_000, keepsReturned: true },
} as const satisfies Record<string, Manner>
export type SupplierManner = keyof typeof suppliers
