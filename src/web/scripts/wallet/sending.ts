import type { WalletTexts } from '../../buying/wallet-panel.ts'
import type { Kept, KeptPayment } from './kept.ts'
import { type Answer, type Fetch, type FieldFault, purchase } from './store.ts'

export interface Sending {
  readonly fetch: Fetch
  readonly kept: Kept
  readonly show: (step: keyof WalletTexts) => void
  readonly wait: (ms: number) => Promise<void>
}

/** There is an order: it is paid, or may still be. Its page shows which. */
interface Paid {
  readonly type: 'paid'
  readonly orderId: string
  /** Only in the first answer, which may have been lost or have gone to another tab. */
  readonly accessToken: string | undefined
  /** The idempotency key of the purchase, which opens the order for a limited time. */
  readonly key: string
}

export type PayFault = keyof WalletTexts['faults']

export interface Failed {
  readonly type: 'failed'
  readonly code: PayFault
  readonly values?: Readonly<Record<string, string>>
  /** The faults of fields in the form. */
  readonly errors?: readonly FieldFault[]
  /** The current price if it is higher than the page showed; atomic USDC. */
  readonly amount?: bigint
}

export type Ended = Paid | Failed

export function failed(code: PayFault, values?: Readonly<Record<string, string>>): Failed {
  return { type: 'failed', code, ...(values === undefined ? {} : { values }) }
}

/** Waits before each further try, in milliseconds. After the last try the person decides. */
const pausesMs = [1_000, 2_000, 4_000, 8_000, 15_000, 15_000]

/**
 * Sends the kept payment, repeatedly while it is not known whether it was accepted. It is forgotten only when that is
 * known: accepted, or proven not to be.
 *
 * @param isFirst whether the payment has never been sent before
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

/** The outcome; undefined while it is not known whether the payment was accepted. */
function endOf(answer: Answer, { key }: KeptPayment, isFirst: boolean): Ended | undefined {
  switch (answer.type) {
    case 'order':
      return { type: 'paid', orderId: answer.orderId, accessToken: answer.accessToken, key }
    case 'demand':
      // The store asks for another payment only when it has proven that this one was not accepted.
      return failed('refused', { reason: sentence(answer.reason) })
    case 'refused':
      return refusalOf(answer, isFirst)
    case 'silence':
      return undefined
  }
}

/** Refusals of the content itself: the same request was always refused, and always will be. */
const certain: Readonly<Record<string, PayFault>> = {
  invalid_body: 'form',
  offer_not_found: 'notSold',
  limit_exceeded: 'limited',
}

/** Temporary refusals. They prove that nothing was paid only if the payment has never been sent before. */
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
