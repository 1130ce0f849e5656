import { deserialize, serialize } from 'node:v8'
import { listTimeoutMs, type SupplierIntegration, supplierTimeoutMs } from '../supplier.ts'
import type { KnownBrands } from './brands.ts'
import { createZenditClient } from './client.ts'
import { createZenditOffers } from './offers.ts'
import { createZenditSupplier } from './purchases.ts'
import { zenditStatement } from './statement.ts'
import { referenceOf, verifiesWebhook } from './webhook.ts'

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
