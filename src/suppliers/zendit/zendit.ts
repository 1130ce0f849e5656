import { createHash, timingSafeEqual } from 'node:crypto'
import { deserialize, serialize } from 'node:v8'
import { listTimeoutMs, type SupplierIntegration, supplierTimeoutMs } from '../supplier.ts'
import type { KnownBrands } from './brands.ts'
import { createZenditClient } from './client.ts'
import { createZenditOffers } from './offers.ts'
import { createZenditSupplier } from './purchases.ts'
import { recordOf } from './raw.ts'
import { zenditStatement } from './statement.ts'

export const zendit = {
  variables: 'SUPPLIER',
  connect({ url: baseUrl, key: apiKey, webhook }, now, signal = new AbortController().signal) {
    const client = createZenditClient({ baseUrl, apiKey, timeoutMs: supplierTimeoutMs })
    const lists = createZenditClient({ baseUrl, apiKey, timeoutMs: listTimeoutMs })
    return {
      ...createZenditSupplier(client, now),
      statement: zenditStatement(lists, { now, signal }),
      webhook: {
        isGenuine: (headers) => webhook !== undefined && verifiesWebhook(headers, webhook),
        referenceIn: referenceOf,
      },
    }
  },
  readOffers({ url: baseUrl, key: apiKey }, note) {
    const brands: KnownBrands = note === undefined ? new Map() : deserialize(note)
    const client = createZenditClient({ baseUrl, apiKey, timeoutMs: listTimeoutMs })
    return {
      ...createZenditOffers(client, () => new Date(), brands),
      note: () => Uint8Array.from(serialize(brands)),
    }
  },
} as const satisfies SupplierIntegration

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
