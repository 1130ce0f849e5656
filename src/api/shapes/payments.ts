import * as z from 'zod'
import { kinds } from '../../catalog/good.ts'
import { SignalsBlock } from './manifest.ts'

/** The published shapes of a demand for payment (x402, version 2). */

const extensions = z.record(z.string(), z.unknown())

const PaymentTerms = z
  .object({
    scheme: z.literal('exact'),
    network: z.string().describe('CAIP-2: eip155:8453 is Base'),
    asset: z.string().describe('Contract address of USDC'),
    amount: z.string().regex(/^\d+$/).describe('Atomic USDC: 1 USDC is 1000000'),
    payTo: z.string(),
    maxTimeoutSeconds: z.int().describe('How long this price holds'),
    extra: z.object({
      name: z.string().describe('EIP-712 domain of the asset'),
      version: z.string(),
      quote: z.string().optional().describe('Our promise of this price; echo it'),
    }),
    extensions: z
      .object({ 'x402-signals': SignalsBlock })
      .optional()
      .describe('Delivery, refunds and health for this kind, in every 402'),
  })
  .meta({ id: 'PaymentTerms' })

const resource = z.object({
  url: z.url(),
  description: z.string(),
  mimeType: z.string(),
  serviceName: z.string().optional(),
  tags: z.array(z.string()).optional(),
  iconUrl: z.url().optional(),
})

const paymentRequired = {
  x402Version: z.literal(2),
  error: z.string(),
  resource,
  extensions,
}

/** The body of a 402 that asks for money; the header PAYMENT-REQUIRED has the same. */
export const PaymentRequiredAnswer = z
  .object({
    ...paymentRequired,
    accepts: z.array(PaymentTerms).min(1),
    code: z.string().optional().describe('Why the payment that was sent was not taken'),
    charged: z.literal('no'),
    message: z.string().describe('What to do, in a sentence'),
    bodySchema: z.looseObject({}).describe('JSON Schema of the body that buys this'),
  })
  .meta({ id: 'PaymentRequired' })

/** The body of a 402 that asks for a sign-in: there is nothing to pay. */
export const SignInRequiredAnswer = z
  .object({ ...paymentRequired, accepts: z.array(z.never()).max(0), message: z.string() })
  .meta({ id: 'SignInRequired' })

/** The exact price of one purchase. */
export const QuoteAnswer = z
  .object({
    offerId: z.string(),
    kind: z.enum(kinds),
    usdc: z.object({ amount: z.string().regex(/^\d+$/), decimals: z.literal(6) }),
    display: z.string().describe('The price for people: "25.00 USDC"'),
    message: z.string().describe('What is bought and for how much, in a sentence'),
    validUntil: z.iso.datetime(),
    accepts: z.array(PaymentTerms).length(1),
    purchase: z.object({ method: z.literal('POST'), url: z.url() }),
    refundRule: z.string(),
  })
  .meta({ id: 'Quote' })
