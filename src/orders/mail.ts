import type { OrderId } from '../lib/ids.ts'

interface Mail {
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Sends mail. Rejects soon if the mail was not accepted. */
export interface Mailer {
  send(mail: Mail): Promise<void>
}

/** Only a keyed digest of an address is stored; somebody who asks for the orders of an address types it again. */
export interface MailBook {
  /** Stores the address of an order, or of one that a checkout will open. It replaces an earlier one. */
  remember(order: OrderId, digest: string): Promise<void>
  /** The orders under any of these digests: opened ones first, then those that never were, each newest first. */
  ordersOf(digests: readonly string[], limit: number): Promise<readonly OrderId[]>
  /** Deletes those of orders that ended before then, and those stored before then without an order. Returns how many. */
  forget(endedBefore: Date): Promise<number>
}
