import type { Timers } from '../timers.ts'
import type { StoreEvent } from './events.ts'
import type { Faults } from './faults.ts'
import type { Ledger } from './ledger.ts'
import type { ServerSettings } from './options.ts'
import type { Place } from './views.ts'
import type { Webhooks } from './webhooks.ts'

/** What moving invoices and payouts needs. */
export interface Deps {
  readonly ledger: Ledger
  readonly timers: Timers
  readonly settings: ServerSettings
  readonly place: Place
  readonly faults: Faults
  readonly webhooks: Webhooks
}

/** Tells every webhook that asked for it. */
export function tell({ webhooks, place }: Deps, event: StoreEvent): void {
  webhooks.notify({ ...event, storeId: place.storeId })
}
