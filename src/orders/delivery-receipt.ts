import { createHash } from 'node:crypto'
import * as z from 'zod'
import { kinds } from '../catalog/offer.ts'
import { canonicalJson } from '../lib/canonical-json.ts'

/** The `typ` of a delivery receipt's header: no other signature of the store can pass for a receipt. */
export const receiptType = 'delivery-receipt+jwt'

const timestamp = z.iso.datetime()
const transaction = z.string().describe('The hash of the transaction, where anyone can check it')
const atomic = z.string().regex(/^\d+$/)

/** What a delivery receipt says, signed by the store. It holds no goods and no personal fields. */
export const ReceiptClaims = z.object({
  iss: z.url().describe('The store, where its keys are: {iss}/.well-known/jwks.json'),
  iat: z.number().int().describe('When it was signed; seconds since 1970'),
  sub: z.string().describe('The order id'),
  paymentId: z.string(),
  kind: z.enum(kinds),
  offerId: z.string(),
  brandName: z.string(),
  state: z.enum(['PAID', 'FULFILLING', 'FULFILLED', 'FULFILLMENT_FAILED', 'EXPIRED']),
  placed_at: timestamp,
  state_updated_at: timestamp,
  payment: z.object({
    network: z.string().describe('CAIP-2; for another coin than USDC, the name of its chain'),
    asset: z.string(),
    payer: z
      .string()
      .describe('The wallet; for another coin, the last letters of the address its buyer gave'),
    payTo: z.string(),
    amount_atomic: atomic.describe('In the smallest unit of the asset'),
    transaction,
    settlement: z
      .enum(['seen', 'final'])
      .describe('seen: in a block that the chain may still drop'),
  }),
  delivery: z
    .object({
      sha256: z.string().describe('Of salt, a full stop and the canonical JSON of the goods; hex'),
    })
    .optional()
    .describe('Only once delivered'),
  refund: z
    .object({
      state: z.enum(['REFUND_PENDING', 'REFUNDED', 'REFUND_FAILED']),
      amount_atomic: atomic,
      transaction: transaction.optional(),
    })
    .optional(),
})
export type ReceiptClaims = z.infer<typeof ReceiptClaims>

/** Given only to the holder of the goods, who removes it before showing the receipt to others. */
export const Delivered = z.object({
  salt: z.string().describe('Keeps the goods from being guessed from their hash; hex'),
  result: z.record(z.string(), z.unknown()).describe('The goods as delivered, without pictures'),
})
export type Delivered = z.infer<typeof Delivered>

export const ReceiptAnswer = z.object({
  receipt: z.string().describe('A compact JWS whose payload is the receipt'),
  delivered: Delivered.optional().describe('Only for whoever may see the goods'),
})
export type ReceiptAnswer = z.infer<typeof ReceiptAnswer>

/** Voucher codes are short; the salt keeps them from being found by trying (the idea of SD-JWT, RFC 9901). */
export function deliveryHash({ salt, result }: Delivered): string {
  return createHash('sha256')
    .update(`${salt}.${canonicalJson(result)}`)
    .digest('hex')
}
