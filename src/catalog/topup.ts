import * as z from 'zod'
import { credited, plainText } from './fields.ts'
import type { Allowance, OfferBase } from './offer.ts'
import { phonePattern } from './phone.ts'

export interface TopupOffer extends OfferBase {
  readonly kind: 'topup'
  /** The line's country: a topup is always for one. */
  readonly country: string
  readonly allowance: Allowance
}

/** All that is special about topups. */
export const topup = {
  kind: 'topup',
  plural: 'topups',
  /** What people call one. */
  noun: 'topup',

  recipient: z.strictObject({
    /** Whether it is a mobile number of the offer's country is checked against the offer. */
    msisdn: z
      .string()
      .regex(phonePattern)
      .describe('Phone number to credit, in E.164 form: +5355564362'),
    confirmNumber: z
      .boolean()
      .optional()
      .describe('true insists on a phone number that was refused because no numbering plan has it'),
  }),

  /** The number is not repeated here: it is personal, and erased where the buyer told it. */
  delivery: z.object({
    kind: z.literal('topup'),
    confirmationNumber: plainText.optional(),
    credited: credited.optional(),
  }),

  refund: 'automatic',
  refundRule:
    'Refunded automatically and in full to the payer if the carrier rejects it; a topup credited to the handset is not refundable.',
} as const

/** Who is credited: the number as it was understood. */
export type TopupRecipient = Pick<z.infer<typeof topup.recipient>, 'msisdn'>
