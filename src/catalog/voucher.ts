import * as z from 'zod'
import { credited, personName, plainText } from './fields.ts'
import type { OfferBase } from './offer.ts'

export interface VoucherOffer extends OfferBase {
  readonly kind: 'voucher'
  /** The supplier's own words for what it is, where they are others than the sub-types: "Fuel". */
  readonly categories?: readonly string[]
  /** About the brand. */
  readonly description?: string
  /** The supplier's picture of the card. */
  readonly image?: string
  /** How the card is used once bought, where the brand says. */
  readonly redemptionInstructions?: string
  /** The supplier's keys of what the buyer must tell: "recipient.email". */
  readonly requiredFields: readonly string[]
}

/** What the catalog files a voucher under: the supplier's own words for it. */
export function categoriesOf({ categories, subTypes }: VoucherOffer): readonly string[] {
  return categories ?? subTypes
}

/** All that is special about vouchers. */
export const voucher = {
  kind: 'voucher',
  plural: 'vouchers',
  /** What people call one. */
  noun: 'voucher',

  /** What the buyer tells besides the offer. */
  recipient: z.strictObject({
    firstName: personName.describe('Recipient first name'),
    lastName: personName.describe('Recipient last name'),
    email: z.email().max(254).optional().describe('Recipient e-mail, required for some brands'),
    country: z
      .string()
      .regex(/^[A-Za-z]{2}$/)
      .transform((code) => code.toUpperCase())
      .optional()
      .describe('Recipient country, ISO 3166-1 alpha-2, required for some brands'),
  }),

  /** What the buyer receives. It has those fields that the supplier gives. */
  delivery: z.object({
    kind: z.literal('voucher'),
    code: plainText.optional(),
    pin: plainText.optional(),
    redemptionUrl: plainText.optional(),
    instructions: plainText.optional(),
    terms: plainText.optional(),
    expiresAt: plainText.optional(),
    confirmationNumber: plainText.optional(),
    credited: credited.optional(),
  }),

  /** Refunded until a code is issued, never after: nobody can prove that a code was not used. */
  refund: 'none',
  refundRule:
    'Refunded automatically and in full to the payer if no code is issued; a code that was issued is not refundable.',
} as const

export type VoucherRecipient = z.infer<typeof voucher.recipient>
