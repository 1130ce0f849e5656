import * as z from 'zod'

/** What a claim may say (x402-signals 7.1). Where the money goes is not for the claim to say. */
export const RefundClaim = z.strictObject({
  paymentId: z.string().max(100).optional(),
  transactionHash: z.string().max(100).optional(),
  orderIds: z.array(z.string().max(100)).max(10).optional(),
  reason: z.string().max(500).optional(),
})
