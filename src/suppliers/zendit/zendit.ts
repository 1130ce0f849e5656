import { createHash, timingSafeEqual } from 'node:crypto'
import {
  type ConnectedSupplier,
  listTimeoutMs,
  type SupplierAccess,
  type SupplierIntegration,
  supplierTimeoutMs,
} from '../supplier.ts'
import { createZenditClient, recordOf } from './client.ts'
import { createZenditOffers } from './offers.ts'
import { createZenditSupplier, zenditStatement } from './purchases.ts'

export const zendit = {
  variables: 'SUPPLIER',
  connect({ url: baseUrl, key: apiKey, webhook }, now, signal = new AbortController().signal) {
    const client = createZenditClient({ baseUrl, apiKey, timeoutMs: supplierTimeoutMs })
    const lists = createZenditClient({ baseUrl, apiKey, timeoutMs: listTimeoutMs })
    return {
      ...createZenditSupplier(client, now),
      statement: zenditStatement(lists, { now, signal }),
      webhook: webhookOf(webhook),
    }
  },
  offersOf({ url: baseUrl, key: apiKey }) {
    return createZenditOffers(createZenditClient({ baseUrl, apiKey, timeoutMs: listTimeoutMs }))
  },
} as const satisfies SupplierIntegration

/** @param agreed the header that the operator chose in Zendit's console; without one, no call is genuine */
function webhookOf(agreed: SupplierAccess['webhook']): ConnectedSupplier['webhook'] {
  return {
    isGenuine(headers) {
      if (agreed === undefined || agreed.value === '') return false
      const sent = headers[agreed.header.toLowerCase()]
      // In constant time, so that the value cannot be guessed byte by byte.
      return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(agreed.value))
    },
    // Only a hint: nothing else in the body is believed, and the purchase is looked up instead.
    referenceIn(body) {
      const reference = recordOf(body)?.['transactionId']
      const isReference = typeof reference === 'string' && /^[A-Za-z0-9]{1,64}$/.test(reference)
      return isReference ? reference : undefined
    },
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
