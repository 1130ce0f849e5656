import { z } from 'zod'

/**
 * The fields of BTCPay's answers that the store reads. Money is text in all of them, and stays text until it
 * is converted to units: a JSON number would have been rounded when it was parsed.
 */

const id = z.string().regex(/^[\w-]{1,100}$/)
const decimal = z.string().regex(/^\d{1,20}(\.\d{1,30})?$/)
/** Seconds since 1970, up to the year 2100. */
const moment = z.number().int().min(0).max(4_102_444_800)

export const invoiceStatuses = ['New', 'Processing', 'Expired', 'Invalid', 'Settled'] as const
export const additionalStatuses = [
  'None',
  'PaidLate',
  'PaidPartial',
  'Marked',
  'Invalid',
  'PaidOver',
] as const

export const invoiceSchema = z.object({
  id,
  storeId: z.string(),
  amount: decimal,
  currency: z.string(),
  createdTime: moment,
  expirationTime: moment,
  monitoringExpiration: moment,
  status: z.enum(invoiceStatuses),
  additionalStatus: z.enum(additionalStatuses),
  /** The amount received; missing in older releases. */
  paidAmount: decimal.nullish(),
  metadata: z.looseObject({ orderId: z.string().nullish(), storeOrder: z.string().nullish() }),
})
export type GreenfieldInvoice = z.infer<typeof invoiceSchema>

/**
 * An invoice in a list with `includePaymentMethods`. BTCPay's API document has that parameter and does not
 * describe its answer, so an address that is missing here is read with a call of its own.
 */
export const listedInvoiceSchema = invoiceSchema.extend({
  paymentMethods: z
    .array(z.object({ destination: z.string().nullish() }))
    .nullish()
    .catch(null),
})
export type ListedInvoice = z.infer<typeof listedInvoiceSchema>

export const paymentMethodSchema = z.object({
  paymentMethodId: z.string(),
  destination: z.string().min(1).max(500).nullish(),
  paymentLink: z.string().max(2_000).nullish(),
  rate: decimal,
  amount: decimal,
  payments: z.array(
    z.object({
      id: z.string().min(1).max(300),
      receivedDate: moment,
      value: decimal,
      status: z.enum(['Invalid', 'Processing', 'Settled']),
    }),
  ),
})
export type GreenfieldMethod = z.infer<typeof paymentMethodSchema>

export const pullPaymentSchema = z.object({
  id,
  name: z.string().nullish(),
  currency: z.string(),
  amount: decimal,
  archived: z.boolean(),
})
export type PullPayment = z.infer<typeof pullPaymentSchema>

export const payoutSchema = z.object({
  id,
  destination: z.string(),
  originalAmount: decimal,
  state: z.enum(['AwaitingApproval', 'AwaitingPayment', 'InProgress', 'Completed', 'Cancelled']),
  paymentProof: z.looseObject({}).nullish(),
})
export type GreenfieldPayout = z.infer<typeof payoutSchema>

export const storeMethodSchema = z.object({ paymentMethodId: z.string(), enabled: z.boolean() })
export const apiKeySchema = z.object({ permissions: z.array(z.string()) })
export const payoutProcessorSchema = z.object({ payoutMethods: z.array(z.string()).nullish() })

export const webhookSchema = z.object({ enabled: z.boolean(), url: z.string().max(2_000) })

/** `rate` is missing if BTCPay could not find one. */
export const storeRateSchema = z.object({ currencyPair: z.string(), rate: decimal.nullish() })

/** For answers of which only the status matters. */
export const anything = z.unknown()
