import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'

/**
 * Whether BTCPay sent this call: it signs the raw body with the webhook's secret (HMAC-SHA256). The
 * signatures are compared in constant time, so that one cannot be guessed digit by digit. Without a secret no
 * call is genuine.
 *
 * @param rawBody the bytes as received, before parsing
 * @param header `BTCPay-Sig`: "sha256=" and 64 hex digits
 */
export function verifyWebhook(
  rawBody: Uint8Array | string,
  header: string | readonly string[] | undefined,
  secret: string,
): boolean {
  if (typeof header !== 'string' || secret === '') return false
  const [, hex] = /^sha256=([0-9a-f]{64})$/i.exec(header) ?? []
  if (hex === undefined) return false
  const expected = createHmac('sha256', secret).update(rawBody).digest()
  return timingSafeEqual(expected, Buffer.from(hex, 'hex'))
}

const eventSchema = z.object({
  type: z.string().startsWith('Invoice'),
  storeId: z.string(),
  invoiceId: z.string().regex(/^[\w-]{1,100}$/),
})

/**
 * The invoice that an event is about; undefined for other events and for other stores. It is only a hint:
 * nothing else in the event is believed, and the invoice is read again.
 *
 * @param body the parsed event
 */
export function invoiceOfEvent(body: unknown, storeId: string): string | undefined {
  const event = eventSchema.safeParse(body)
  return event.success && event.data.storeId === storeId ? event.data.invoiceId : undefined
}
