import * as z from 'zod'

/**
 * A person's name as a form takes it: no control characters, not blank, at most 80 characters. The two
 * joiners (U+200C, U+200D) are letters of names in Persian and in scripts of India.
 */
export const personName = z
  .string()
  .trim()
  .min(1)
  .max(80)
  .regex(/^(?=.*[^\s\u200c\u200d])(?:[^\p{C}]|[\u200c\u200d])+$/u)

/** Text that a supplier sent. Bounded, because what is stored must be. */
export const plainText = z.string().max(20_000)

/** What a supplier says that a card or a line received: major = `amount` / `currencyDivisor`. */
export const credited = z.object({
  amount: z.number(),
  currency: z.string(),
  currencyDivisor: z.number(),
})

export type Credited = z.infer<typeof credited>
