import type { OrderId } from '../lib/ids.ts'

/** A mail of plain text, as somebody gets it. */
interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Sends mail. Rejects, soon, when the mail was not taken. */
export interface Mailer {
  send(mail: Mail): Promise<void>
}

/**
 * Which orders somebody left an address with. The address is not kept, only a keyed digest of it: who
 * asks for the orders of an address types it again.
 */
export interface MailBook {
  /** The order, or the one that a checkout will open, has one address: the last one that was left. */
  remember(order: OrderId, digest: string): Promise<void>
  /** Those under any of these digests: orders before what never became one, each newest first. */
  ordersOf(digests: readonly string[], limit: number): Promise<readonly OrderId[]>
  /** Forgets those of orders that ended before then, and those left before then with no order. Returns how many. */
  forget(endedBefore: Date): Promise<number>
}
