import { z } from 'zod'

/**
 * How the supplier treats the purchases of one offer, for tests. What is left out is as usual.
 * - `lostAnswer`: a purchase is made, and its answer is a 503.
 * - `hiddenMs`: a look-up is a 404 for so long after the purchase was accepted.
 * - `duplicates`: whether the refusal of a used transactionId names that field.
 * - `endsAfterMs`: how long after it was accepted a purchase ends.
 * - `goodsAfterMs`: a record is DONE for so long before it shows its goods.
 * - `receipt`: what of a voucher its record shows; with `email`, the goods are in a mail alone.
 * - `dearer`: the cost and the price have risen by so many cents since the list was read.
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
