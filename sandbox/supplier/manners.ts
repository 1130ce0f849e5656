import { z } from 'zod'

/**
 * How the supplier treats purchases of one offer, for tests. Fields that are absent change nothing.
 * - `lostAnswer`: a purchase is made, and its answer is a 503.
 * - `hiddenMs`: look-ups are answered 404 for this long after the purchase was accepted.
 * - `duplicates`: whether the refusal of a used transactionId names that field.
 * - `endsAfterMs`: how long after its acceptance a purchase ends.
 * - `goodsAfterMs`: how long a record is DONE before it shows its goods.
 * - `receipt`: which parts of a voucher its record shows; with `email`, the goods are only in a mail.
 * - `dearer`: by how many cents the cost and the price have risen since the list was read.
 * - `refund`: whether the refund of an eSIM is done, fails, or stays accepted.
 */
export const mannerSchema = z.object({
  lostAnswer: z.boolean().default(false),
  hiddenMs: z.int().min(0).default(0),
  duplicates: z.enum(['named', 'bare']).default('named'),
  endsAfterMs: z.int().min(0).optional(),
  goodsAfterMs: z.int().min(0).default(0),
  receipt: z.enum(['usual', 'link', 'email']).default('usual'),
  dearer: z.int().min(0).default(0),
  refund: z.enum(['done', 'fails', 'stays']).default('done'),
})

export type Manner = z.infer<typeof mannerSchema>

const usual: Manner = mannerSchema.parse({})

export interface Manners {
  of(offerId: string): Manner
  set(offerId: string, manner: Manner): void
}

export function createManners(): Manners {
  const byOffer = new Map<string, Manner>()
  return {
    of: (offerId) => byOffer.get(offerId) ?? usual,
    set: (offerId, manner) => void byOffer.set(offerId, manner),
  }
}
