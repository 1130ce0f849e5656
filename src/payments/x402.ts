import * as z from 'zod'

/** The payload of x402, version 2. All is bounded, because an attacker may write it; ERC-6492 takes 2,000 bytes. */
const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
const bytes32 = z.string().regex(/^0x[0-9a-fA-F]{64}$/)
const atomic = z.string().regex(/^\d{1,30}$/)
const seconds = z.string().regex(/^\d{1,12}$/)

/** The name of a chain, a token or an address: printable ASCII, because the database takes no null character. */
const name = z.string().regex(/^[\x20-\x7e]{0,80}$/)

export const Terms = z.object({
  scheme: name,
  network: name,
  asset: name,
  amount: atomic,
  payTo: name,
  maxTimeoutSeconds: z.number().int().positive(),
  extra: z.record(z.string(), z.unknown()),
})
export type Terms = z.infer<typeof Terms>

const Authorization = z.object({
  from: address,
  to: address,
  value: atomic,
  validAfter: seconds,
  validBefore: seconds,
  nonce: bytes32,
})

export const PaymentPayload = z.object({
  x402Version: z.literal(2),
  accepted: Terms,
  payload: z.object({
    signature: z
      .string()
      .max(6_000)
      .regex(/^0x([0-9a-fA-F]{2})+$/),
    authorization: Authorization,
  }),
  extensions: z.record(z.string(), z.unknown()).optional(),
})
export type PaymentPayload = z.infer<typeof PaymentPayload>
