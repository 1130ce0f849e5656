import { createHash } from 'node:crypto'
import type { OfferId } from '../lib/ids.ts'
import { type Cents, type Usdc, usdc } from '../lib/money.ts'
import type { Signer } from '../secrets/tokens.ts'
import { termsValidSeconds } from './terms.ts'

/** The buyer carries the signed promise: a call without a payment stores nothing (docs/contributors/decisions/003). */
export interface Quotes {
  promise(what: Quoted, amount: Usdc): string
  /** The amount promised for exactly this, or undefined if no promise of ours holds. */
  promised(text: unknown, what: Quoted): Usdc | undefined
  /** For how many more seconds this promise of ours holds; 0 if it is not ours or has expired. */
  secondsLeft(text: unknown): number
}

/** What a price is promised for. If any of it changes, the same price would buy something else. */
export interface Quoted {
  readonly offer: OfferId
  readonly value: Cents | undefined
  /** The currencies of the offer's price and of its face value, with their smallest units. */
  readonly units: string
}

/** A digest of what is quoted, atomic amount, and until when, in epoch seconds. */
type Promised = readonly [string, string, number]

export function createQuotes(signer: Signer, now: () => Date): Quotes {
  const seconds = () => Math.floor(now().getTime() / 1_000)
  // The signer reads only what it has signed, so the shape needs no second check.
  const read = (text: unknown) =>
    typeof text === 'string' ? (signer.read(text) as Promised | undefined) : undefined
  return {
    promise(what, amount) {
      const until = seconds() + termsValidSeconds
      const promised: Promised = [digestOf(what), amount.toString(), until]
      return signer.sign(promised)
    },

    promised(text, what) {
      const promised = read(text)
      if (!promised) return undefined
      const [quoted, amount, until] = promised
      return quoted === digestOf(what) && until >= seconds() ? usdc(amount) : undefined
    },

    secondsLeft(text) {
      const until = read(text)?.[2] ?? 0
      return Math.max(0, until - seconds())
    },
  }
}

/** Always of the same length, because the promise travels in a header. */
function digestOf({ offer, value, units }: Quoted): string {
  const text = JSON.stringify([offer, value ?? null, units])
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}
