import { paymentKeyOf, type X402Payment } from '../../payments/payment.ts'
import type { Facilitator, Settling } from './facilitator.ts'

/** A payment that was handed over is submitted by ourselves after this. */
const takeOverMs = 30_000
/** How long until the next settlement is handed over if the last was not reported to have landed. */
const againMs = 3_600_000

export interface Occasion {
  /** How long until the next settlement is handed over if the last was reported to have landed. */
  readonly everyMs: number
  readonly now: () => Date
}

/**
 * Checks and settles by ourselves, and hands a settlement to a hosted facilitator from time to time: an
 * index lists the sellers that are paid through its facilitator, and drops those that were not for a month.
 * Each process counts on its own, from its start, so a store hands over too many rather than too few.
 *
 * What was handed over is left to the facilitator for {@link takeOverMs}; the caller only looks at the chain
 * then. After that we submit it too: the token accepts an authorization once, whoever submits it.
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

/** The request reached nobody, so nobody acts on it. */
function isUnreached(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  return code === 'ECONNREFUSED' || code === 'ENOTFOUND'
}
