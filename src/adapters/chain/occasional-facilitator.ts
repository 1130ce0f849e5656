import { paymentKeyOf, type X402Payment } from '../../payments/payment.ts'
import type { Facilitator, Settling } from './facilitator.ts'

/** After this a settlement that was handed over and is not on the chain is made by ourselves. */
const takeOverMs = 30_000
/** How soon another settlement is handed over when the last one was not said to have landed. */
const againMs = 3_600_000

export interface Occasion {
  /** How long after the last settlement there the next one is handed over. */
  readonly everyMs: number
  readonly now: () => Date
}

/**
 * Checks and settles by ourselves, and hands the first settlement after a while without one to a hosted
 * facilitator: indexes list who is paid through theirs, and forget who has not been for a month. Each
 * process counts for itself, from its start on, so a store hands over rather more than less.
 *
 * What was handed over is the facilitator's for a moment, in which the chain is looked at. Then we
 * submit it, too: the token takes an authorization once, whoever brings it.
 */
export function occasionally(
  own: Facilitator,
  hosted: Facilitator,
  { everyMs, now }: Occasion,
): Facilitator {
  let dueAt = 0
  // Only the last one: the next is handed over an hour later at the earliest.
  let handedOver: { readonly payment: string; readonly at: number } | undefined

  async function handOver(tender: X402Payment, settling: Settling, at: number) {
    const payment = paymentKeyOf(tender)
    dueAt = at + againMs
    handedOver = { payment, at }
    try {
      const submitted = await hosted.settle(tender, settling)
      if (submitted?.isSaidToHaveLanded) dueAt = at + everyMs
      return submitted
    } catch (error) {
      if (!isUnreached(error)) throw error
      handedOver = undefined
      return own.settle(tender, settling)
    }
  }

  return {
    verify: (tender) => own.verify(tender),

    async settle(tender, settling) {
      const payment = paymentKeyOf(tender)
      const at = now().getTime()
      const since = handedOver?.payment === payment ? handedOver.at : undefined
      if (since === undefined && at >= dueAt) return handOver(tender, settling, at)
      if (since !== undefined && at - since < takeOverMs) return undefined
      return own.settle(tender, settling)
    },
  }
}

/** Nobody was there to take the request, so nobody acts on it. */
function isUnreached(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}
