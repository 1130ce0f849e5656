import type { Timers } from '../timers.ts'
import type { Faults } from './faults.ts'
import type { Ledger } from './ledger.ts'
import type { ServerSettings } from './options.ts'
import type { Place } from './views.ts'
import type { StoreEvent, Webhooks } from './webhooks.ts'

/** The dependencies of everything that changes invoices and payouts. */
export interface Deps {
  readonly ledger: Ledger
  readonly timers: Timers
  readonly settings: ServerSettings
  readonly place: Place
  readonly faults: Faults
  readonly webhooks: Webhooks
}

/** Sends the event to the store's webhook. */
export function tell({ webhooks, place }: Deps, event: StoreEvent): void {
  webhooks.notify({ ...event, storeId: place.storeId })
}
