import { z } from 'zod'
import { callJson, type JsonRequest } from '../../lib/http-call.ts'

export interface Greenfield {
  /** Without `/api/v1`: "https://btcpay.example.com". */
  readonly url: string
  readonly storeId: string
  /** A secret. It appears in no error and no log. */
  readonly apiKey: string
  readonly timeoutMs: number
  readonly fetch?: typeof fetch
}

export interface GreenfieldRefusal {
  readonly outcome: 'refused'
  readonly status: number
  /** BTCPay's error code, or `invalid` if it lists fields instead. */
  readonly code: string
  readonly fields: readonly string[]
}

export type GreenfieldResponse<T> =
  | { readonly outcome: 'ok'; readonly value: T }
  | GreenfieldRefusal
  | { readonly outcome: 'unknown'; readonly reason: string }

export type Unanswered = Exclude<GreenfieldResponse<unknown>, { outcome: 'ok' }>

/** The statuses of BTCPay's refusals. An error with another one, such as a proxy's 502, proves nothing. */
const noes = [400, 401, 403, 404, 409, 422]

/** An answer that does not fit the schema proves nothing. */
export async function callGreenfield<T>(
  greenfield: Greenfield,
  schema: z.ZodType<T>,
  request: JsonRequest,
): Promise<GreenfieldResponse<T>> {
  const { url, apiKey, timeoutMs, fetch } = greenfield
  const answer = await callJson(
    {
      baseUrl: `${url.replace(/\/+$/, '')}/api/v1`,
      authorization: `token ${apiKey}`,
      timeoutMs,
      ...(fetch === undefined ? {} : { fetch }),
    },
    request,
  )
  if (answer.outcome === 'unknown') return { ...answer, reason: `BTCPay: ${answer.reason}` }
  const { status, body } = answer
  if (noes.includes(status)) return noOf(status, body)
  if (status !== 200) return { outcome: 'unknown', reason: `BTCPay answers ${status}` }
  const parsed = schema.safeParse(body)
  if (parsed.success) return { outcome: 'ok', value: parsed.data }
  const places = parsed.error.issues.slice(0, 3).map(({ path }) => path.join('.') || 'all of it')
  return { outcome: 'unknown', reason: `BTCPay's answer does not fit (${places.join(', ')})` }
}

export function storePath({ storeId }: Greenfield, path: string): string {
  return `/stores/${segment(storeId)}${path}`
}

/** Room for hundreds of invoices. */
const maxListBytes = 2 * 1024 * 1024

/** Reads what is below the store. */
export function readOfStore<T>(
  greenfield: Greenfield,
  schema: z.ZodType<T>,
  path: string,
  maxBytes = maxListBytes,
): Promise<GreenfieldResponse<T>> {
  const request = { method: 'GET', path: storePath(greenfield, path), maxBytes } as const
  return callGreenfield(greenfield, schema, request)
}

/** BTCPay's messages can repeat what was sent, so only codes and fields are taken. */
function noOf(status: number, body: unknown): GreenfieldResponse<never> {
  const code = plain((body as { code?: unknown } | undefined)?.code)
  if (code !== undefined) return { outcome: 'refused', status, code, fields: [] }
  const fields = Array.isArray(body)
    ? body.map((fault) => plain(fault?.path)).filter((path) => path !== undefined)
    : []
  if (fields.length > 0) {
    return { outcome: 'refused', status, code: 'invalid', fields: fields.slice(0, 10) }
  }
  return { outcome: 'unknown', reason: `BTCPay answers ${status} and does not say why` }
}

function plain(text: unknown): string | undefined {
  return typeof text === 'string' && /^[\w.[\]-]{1,80}$/.test(text) ? text : undefined
}

/** Whether BTCPay refused the API key, which proves nothing about the object of the call. */
export function isKeyRefused({ status }: Pick<GreenfieldRefusal, 'status'>): boolean {
  return status === 401 || status === 403
}

export function unclear(response: Unanswered) {
  const reason = response.outcome === 'unknown' ? response.reason : describe(response)
  return { outcome: 'unknown', reason } as const
}

export function describe({ status, code, fields }: GreenfieldRefusal): string {
  return `BTCPay answers ${status} ${[code, ...fields].join(', ')}`
}

/** An id as a segment of a path. BTCPay's ids are letters and digits, so any other text is a defect. */
export function segment(id: string): string {
  if (!/^[\w-]{1,100}$/.test(id)) throw new Error('An id of BTCPay holds letters and digits only')
  return id
}

/** Money is text in all of them and stays text until it is units: a JSON number would have been rounded. */

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

/** BTCPay does not describe this answer, so an address that is missing here is read with a call of its own. */
export const listedInvoiceSchema = invoiceSchema.extend({
  paymentMethods: z
    .array(
      z.object({
        destination: z.string().nullish(),
        payments: z.array(z.object({ receivedDate: moment })).nullish(),
      }),
    )
    .nullish()
    .catch(null),
})

export const paymentMethodSchema = z.object({
  paymentMethodId: z.string(),
  destination: z.string().min(1).max(500).nullish(),
  paymentLink: z.string().max(2_000).nullish(),
  rate: decimal,
  amount: decimal,
  /** Below 0 if more was paid than asked for. */
  due: z.string().regex(/^-?\d{1,20}(\.\d{1,30})?$/),
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

export const serverSchema = z.object({ version: z.string().max(100) })
export const storeSchema = z.object({
  networkFeeMode: z.enum(['MultiplePaymentsOnly', 'Always', 'Never']).nullish(),
})
export const storeMethodSchema = z.object({ paymentMethodId: z.string(), enabled: z.boolean() })
export const apiKeySchema = z.object({ permissions: z.array(z.string()) })
export const payoutProcessorSchema = z.object({ payoutMethods: z.array(z.string()).nullish() })

export const webhookSchema = z.object({ enabled: z.boolean(), url: z.string().max(2_000) })

export const storeRateSchema = z.object({ currencyPair: z.string(), rate: decimal.nullish() })

export const anything = z.unknown()
