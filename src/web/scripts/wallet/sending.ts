import type { WalletTexts } from '../../buying/wallet-panel.ts'
import type { Kept, KeptPayment } from './kept.ts'
import { type Answer, type Fetch, type FieldFault, purchase } from './store.ts'

export interface Sending {
  readonly fetch: Fetch
  readonly kept: Kept
  readonly show: (step: keyof WalletTexts) => void
  readonly wait: (ms: number) => Promise<void>
}

/** It is paid, or may still become so: the page of the order tells. */
interface Paid {
  readonly type: 'paid'
  readonly orderId: string
  /** Only in the first answer, which may be lost, or have gone to another tab. */
  readonly accessToken: string | undefined
  /** The idempotency key of the purchase, which opens the order for a while. */
  readonly key: string
}

export type PayFault = keyof WalletTexts['faults']

export interface Failed {
  readonly type: 'failed'
  readonly code: PayFault
  readonly values?: Readonly<Record<string, string>>
  /** What is wrong in the form. */
  readonly errors?: readonly FieldFault[]
  /** The price of now, where it is more than was said. */
  readonly amount?: bigint
}

export type Ended = Paid | Failed

export function failed(code: PayFault, values?: Readonly<Record<string, string>>): Failed {
  return { type: 'failed', code, ...(values === undefined ? {} : { values }) }
}

/** Waits before each further try, in milliseconds; after the last one a person decides. */
const pausesMs = [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]

/**
 * Sends the signed payment that is kept, again and again while it is not known whether it was taken.
 * It is forgotten only when that is known: taken, or proven not to be.
 *
 * @param isFirst whether it was never sent before
 */
export async function sendKept(
  deps: Sending,
  { isFirst }: { readonly isFirst: boolean },
): Promise<Ended> {
  const { fetch, kept, show, wait } = deps
  const payment = kept.find()
  if (payment === undefined) return failed('notNow')
  for (let attempt = 0; attempt <= pausesMs.length; attempt += 1) {
    const answer = await purchase(fetch, payment)
    const ended = endOf(answer, payment, isFirst && attempt === 0)
    if (ended !== undefined) {
      kept.forget(payment)
      return ended
    }
    const pauseMs = pausesMs[attempt]
    if (pauseMs === undefined) break
    show('retrying')
    await wait(Math.max(pauseMs, secondsOf(answer) * 1_000))
  }
  return failed('unknown')
}

/** What is known now; undefined while it is not known whether the payment was taken. */
function endOf(answer: Answer, { key }: KeptPayment, isFirst: boolean): Ended | undefined {
  switch (answer.type) {
    case 'order':
      return { type: 'paid', orderId: answer.orderId, accessToken: answer.accessToken, key }
    case 'demand':
      // The store asks for another payment only when it has proven that this one was not taken.
      return failed('refused', { reason: sentence(answer.reason) })
    case 'refused':
      return refusalOf(answer, isFirst)
    case 'silence':
      return undefined
  }
}

/** Refusals of what was sent itself: the same would be refused again, and was before. */
const certain: Readonly<Record<string, PayFault>> = {
  invalid_body: 'form',
  offer_not_found: 'notSold',
  limit_exceeded: 'limited',
}

/** Refusals that may end by themselves; they are certain only where nothing was sent before. */
const passing: Readonly<Record<string, PayFault>> = {
  offer_unavailable: 'notSold',
  store_paused: 'paused',
  rate_limited: 'notNow',
  try_again: 'notNow',
  too_costly: 'notNow',
}

function refusalOf(
  { code, detail, errors, charged }: Extract<Answer, { type: 'refused' }>,
  isFirst: boolean,
): Failed | undefined {
  if (charged !== 'no') return undefined
  const known = certain[code] ?? (isFirst ? passing[code] : undefined)
  if (known !== undefined) return { ...failed(known), errors }
  if (code in passing) return undefined
  return failed('refused', { reason: sentence(detail) })
}

function sentence(text: string): string {
  return text.replace(/\.$/, '')
}

function secondsOf(answer: Answer): number {
  return answer.type === 'refused' ? Math.min(answer.retryAfterSeconds ?? 0, 60) : 0
}
