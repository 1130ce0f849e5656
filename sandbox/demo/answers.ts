import * as z from 'zod'

/** The fields of the store's answers that the demo needs. Answers may have more. */

export const Manifest = z.object({
  x402Version: z.literal(2),
  name: z.string(),
  fulfillment_policy: z.object({ retry_after_seconds: z.number().positive() }),
  refund_policy: z.object({ type: z.string() }),
  signals: z.object({ provider_health: z.string(), agent_action: z.string() }),
})

const address = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{40}$/)])
const hash = z.templateLiteral(['0x', z.string().regex(/^[0-9a-fA-F]{64}$/)])
const atomic = z
  .string()
  .regex(/^\d+$/)
  .transform((text) => BigInt(text))

export const SandboxInfo = z.object({
  rpcUrl: z.url(),
  chainId: z.number(),
  usdc: address,
  supplierUrl: z.url(),
})
export type SandboxInfo = z.infer<typeof SandboxInfo>

export const Faucet = z.object({ amount: atomic, transactionHash: hash })

/** An amount in the catalog: integers in units of 1/currencyDivisor. */
const MoneyLike = z.object({
  currency: z.string(),
  currencyDivisor: z.number().positive(),
  fixed: z.number().optional(),
  min: z.number().optional(),
  max: z.number().optional(),
})
export type MoneyLike = z.infer<typeof MoneyLike>

export const VoucherSearch = z.object({
  total: z.number(),
  items: z.array(
    z.object({
      offerId: z.string(),
      brandName: z.string(),
      country: z.string().optional(),
      price: MoneyLike,
      buy_url: z.url(),
    }),
  ),
})

export const Order = z.object({
  paymentId: z.string(),
  transactionHash: hash.nullable(),
  orderId: z.string(),
  accessToken: z.string().optional(),
  orders: z.tuple([
    z.object({
      offerId: z.string(),
      state: z.string(),
      agent_action: z.string().nullable(),
      result: z.record(z.string(), z.unknown()).nullable(),
      error: z.object({ code: z.string(), message: z.string() }).nullable(),
    }),
  ]),
  refund_state: z.string().nullable(),
  refund_contract: z.object({ endpoint: z.string() }).nullable(),
})
export type Order = z.infer<typeof Order>

export const Refund = z.object({
  refundId: z.string(),
  state: z.string(),
  refund_to: z.string(),
  amount_atomic: atomic,
  amount_atomic_refunded: atomic.nullable(),
  transactionHash: hash.nullable(),
})
export type Refund = z.infer<typeof Refund>

/** An RFC 9457 problem, or the body of a 402 or of a discovery error. */
export const Problem = z.object({
  code: z.string().optional(),
  detail: z.string().optional(),
  message: z.string().optional(),
  error: z.string().optional(),
})
