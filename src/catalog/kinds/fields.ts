import * as z from 'zod'
import type { Allowance } from '../offer-base.ts'

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

/** Text that a supplier sent. Its length is limited because it is stored. */
export const plainText = z.string().max(20_000)

/** What a supplier says that a card or a line received: major = `amount` / `currencyDivisor`. */
export const credited = z.object({
  amount: z.number(),
  currency: z.string(),
  currencyDivisor: z.number(),
})

export type Credited = z.infer<typeof credited>

/** Published fields that several kinds have. */
export const countryCode = z.string().describe('ISO 3166-1 alpha-2 country code')

export const names = z.array(z.string())

export const dataAllowance = {
  dataGb: z.number().optional(),
  dataUnlimited: z.boolean().optional(),
  durationDays: z.int().optional(),
}

export const lineAllowance = {
  ...dataAllowance,
  voiceMinutes: z.int().optional(),
  smsNumber: z.int().optional(),
}

/** The fields that the catalog interface publishes of every line or plan. */
export const wholeAllowance = {
  brandName: z.string(),
  ...lineAllowance,
  voiceUnlimited: z.boolean().optional(),
  smsUnlimited: z.boolean().optional(),
}

/** The data of a line or a plan as one number; Infinity if it is unlimited. */
export function gigabytesOf({ dataGb, dataUnlimited }: Allowance): number | undefined {
  return dataUnlimited ? Number.POSITIVE_INFINITY : dataGb
}
