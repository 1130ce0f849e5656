import { createHash, timingSafeEqual } from 'node:crypto'
import { recordOf } from './raw.ts'

/** The header that the operator chose in Zendit's console. */
export interface WebhookConfig {
  readonly header: string
  readonly value: string
}

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/**
 * Whether a webhook call shows the header we agreed on. Compared in constant time, so that the
 * value cannot be found letter by letter. Without an agreed value, no call is genuine.
 *
 * @param headers by their lower-case names, as Node gives them
 */
export function verifiesWebhook(headers: Headers, config: WebhookConfig): boolean {
  const sent = headers[config.header.toLowerCase()]
  if (typeof sent !== 'string' || config.value === '') return false
  return timingSafeEqual(digest(sent), digest(config.value))
}

/**
 * The purchase that a webhook call is about, or undefined. A hint only: whatever else the body says
 * is not believed, and the purchase is looked up at the supplier instead.
 */
export function referenceOf(webhookBody: unknown): string | undefined {
  const reference = recordOf(webhookBody)?.['transactionId']
  const isReference = typeof reference === 'string' && /^[A-Za-z0-9]{1,64}$/.test(reference)
  return isReference ? reference : undefined
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
