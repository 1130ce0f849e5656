import * as z from 'zod'
import { plainText } from './fields.ts'
import type { Allowance, OfferBase } from './offer.ts'

export interface EsimOffer extends OfferBase {
  readonly kind: 'esim'
  readonly allowance: Allowance
  /** Every country the plan works in, the plan's own country included. */
  readonly coverage: readonly Coverage[]
}

export interface Coverage {
  /** ISO 3166-1 alpha-2. */
  readonly country: string
  /** 2G, 3G, 4G, 5G. */
  readonly speeds: readonly string[]
}

/** Multi-country plans have no country of their own, only those that they cover. */
export function isRegional(offer: EsimOffer): boolean {
  return offer.country === undefined
}

/** All that is special about eSIM plans. */
export const esim = {
  kind: 'esim',
  plural: 'esims',
  /** What people call one. */
  noun: 'eSIM plan',

  recipient: z.strictObject({
    iccid: z
      .string()
      .regex(/^89\d{17,18}$/)
      .optional()
      .describe('An installed eSIM bought here, 19 or 20 digits, to recharge instead of a new one'),
  }),

  delivery: z.object({
    kind: z.literal('esim'),
    iccid: plainText,
    smdpAddress: plainText.optional(),
    /** The matching id alone. */
    activationCode: plainText.optional(),
    /** The whole text of the QR code, where the supplier gives it. */
    lpa: plainText.optional(),
    instructions: plainText.optional(),
  }),

  refund: 'automatic',
  refundRule:
    'Refunded automatically and in full to the payer if delivery fails or the order expires; a delivered eSIM is not refundable.',
} as const

export type EsimRecipient = z.infer<typeof esim.recipient>
export type EsimDelivery = z.infer<typeof esim.delivery>

/**
 * The text of an activation code's QR, "LPA:1$host$id" (SGP.22 4.1), or undefined without a host.
 * Suppliers give either the bare matching id or the whole text, so this takes both.
 */
export function lpaOf(delivery: Pick<EsimDelivery, 'smdpAddress' | 'activationCode' | 'lpa'>) {
  if (delivery.lpa !== undefined) return delivery.lpa
  const { smdpAddress, activationCode = '' } = delivery
  if (activationCode.startsWith('LPA:')) return activationCode
  if (activationCode.startsWith('1$')) return `LPA:${activationCode}`
  return smdpAddress ? `LPA:1$${smdpAddress}$${activationCode}` : undefined
}
