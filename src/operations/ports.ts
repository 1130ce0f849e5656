import type { OfferId } from '../lib/ids.ts'
import type { Usdc } from '../lib/money.ts'

/** What an operator does again and again, mostly by a timer. */
export const recurringActs = ['reconcile', 'backup', 'restore_drill'] as const
export type RecurringAct = (typeof recurringActs)[number]

/** `differs`: it came to its end and found something. `failed`: it could not come to its end. */
export type RunResult = 'good' | 'differs' | 'failed'

export interface LastRun {
  /** When a run last came to its end; before the first, when the store began. */
  readonly endedAt: Date
  /** Of the last run, also of one that failed; null before the first. */
  readonly result: RunResult | null
}

export type LastRuns = ReadonlyMap<RecurringAct, LastRun>

/** What the wallets of the store lose in an hour, on the average of the last week. */
export interface Pace {
  /** Atomic USDC. */
  readonly refunds: number
  /** Transactions that the gas wallet pays for. */
  readonly transfers: number
  /** By supplier, the price of what was delivered; atomic USDC. */
  readonly suppliers: ReadonlyMap<string, number>
}

/** A sale of the last day that cost more than the supplier's list said. */
export interface DearSale {
  readonly offer: OfferId
  readonly price: Usdc
  /** What the supplier charged; undefined if the record has no exchange rate for it. */
  readonly cost: Usdc | undefined
}

/** Where an operator is told: by mail, or by a webhook. */
export type Channel = 'mail' | 'webhook'

/** A condition that a node sees. */
export interface Sighting {
  /** A name in `conditions`. */
  readonly condition: string
  /** What it concerns, such as a part or a wallet; null if the condition cannot be judged at the moment. */
  readonly subject: string | null
  /** In words, without codes and personal fields. */
  readonly text: string
  /** Whether it has held for long enough to be an incident. */
  readonly isDue: boolean
}

/** A condition while it lasts, once for the whole store. */
export interface Incident {
  readonly id: string
  readonly condition: string
  readonly subject: string
  readonly text: string
  readonly openedAt: Date
  readonly recoveredAt: Date | null
}

/** What one channel has to tell of an incident; leased to the caller. */
export interface Notice {
  readonly incident: Incident
  readonly channel: Channel
  /** How often this was tried, with this time. */
  readonly attempts: number
}

/** The incidents of the store, which all its nodes share. */
export interface IncidentBook {
  /**
   * Opens what is due and not open, keeps open what a node still sees, and closes what none has seen for five minutes.
   *
   * @param channels which must tell of what is opened
   */
  note(sightings: readonly Sighting[], channels: readonly Channel[]): Promise<void>
  /** Opens an incident of which some channels have told already. */
  noteTold(
    sighting: Sighting,
    openedAt: Date,
    channels: readonly Channel[],
    told: readonly Channel[],
  ): Promise<void>
  /** Leases what is to be told and due, to this caller alone, for a minute. */
  claimDue(channels: readonly Channel[]): Promise<readonly Notice[]>
  /** @param againInMs undefined: it was told */
  end(notice: Notice, againInMs: number | undefined): Promise<void>
}
