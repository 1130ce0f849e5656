import type { OfferId } from '../primitives/ids.ts'
import { type Cents, type Usdc, usdc } from '../primitives/money.ts'
import type { Signer } from '../secrets/tokens.ts'
import { termsValidSeconds } from './terms.ts'

/**
 * Prices the store stands by for a while, even when the catalog changes. The promise travels with
 * the buyer, signed, so that nothing is stored for a call that nobody paid for (decisions 4).
 */
export interface Quotes {
  promise(offer: OfferId, value: Cents | undefined, amount: Usdc): string
  /** The amount promised for this offer and value, or undefined when no promise of ours holds. */
  promised(text: unknown, offer: OfferId, value: Cents | undefined): Usdc | undefined
}

/** Offer, value in cents or null, atomic amount, and until when, in epoch seconds. */
type Promised = readonly [string, number | null, string, number]

export function createQuotes(signer: Signer, now: () => Date): Quotes {
  const seconds = () => Math.floor(now().getTime() / 1_000)
  return {
    promise(offer, value, amount) {
      const until = seconds() + termsValidSeconds
      const promised: Promised = [offer, value ?? null, amount.toString(), until]
      return signer.sign(promised)
    },

    promised(text, offer, value) {
      if (typeof text !== 'string') return undefined
      // What the signer reads is what we signed, so its shape needs no second check.
      const promised = signer.read(text) as Promised | undefined
      if (!promised) return undefined
      const [forOffer, forValue, amount, until] = promised
      const holds = forOffer === offer && forValue === (value ?? null) && until >= seconds()
      return holds ? usdc(amount) : undefined
    },
  }
}
