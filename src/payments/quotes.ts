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
  /** For how many more seconds this promise of ours holds; 0 when it is none, or over. */
  secondsLeft(text: unknown): number
}

/** Offer, value in cents or null, atomic amount, and until when, in epoch seconds. */
type Promised = readonly [string, number | null, string, number]

export function createQuotes(signer: Signer, now: () => Date): Quotes {
  const seconds = () => Math.floor(now().getTime() / 1_000)
  // What the signer reads is what we signed, so its shape needs no second check.
  const read = (text: unknown) =>
    typeof text === 'string' ? (signer.read(text) as Promised | undefined) : undefined
  return {
    promise(offer, value, amount) {
      const until = seconds() + termsValidSeconds
      const promised: Promised = [offer, value ?? null, amount.toString(), until]
      return signer.sign(promised)
    },

    promised(text, offer, value) {
      const promised = read(text)
      if (!promised) return undefined
      const [forOffer, forValue, amount, until] = promised
      const holds = forOffer === offer && forValue === (value ?? null) && until >= seconds()
      return holds ? usdc(amount) : undefined
    },

    secondsLeft(text) {
      const until = read(text)?.[3] ?? 0
      return Math.max(0, until - seconds())
    },
  }
}
