import { never } from '../lib/errors.ts'
import {
  methodOf,
  type PaidOut,
  type PaymentMethods,
  type SignedRefund,
} from '../payments/payment.ts'
import { type Denylist, isDenied } from './denylist.ts'
import { pollDelay } from './workflow.ts'

/** Money that goes out once, to a fixed address. It is stored with the change that creates the debt. */
export type Payout =
  | ({ readonly state: 'DUE' } & Known)
  /** Granted under the payout limits, and fixed in every detail before anything is sent. */
  | ({ readonly state: 'APPROVED'; readonly signed: SignedRefund } & Known)
  /** Proven: the money is with the buyer. */
  | ({ readonly state: 'CONFIRMED'; readonly confirmedAt: Date } & PaidOut)
  /** Waits for an operator, who makes it due again; a claim can do so too. */
  | {
      readonly state: 'FAILED'
      readonly code: string
      readonly reason: string
      readonly signed?: SignedRefund
    }

interface Known {
  /** Why it had failed before a claim made it due again. The operator has been told of that. */
  readonly knownFault?: string
  /** Signed before, and still good: whoever has it can have it paid, so nothing else may be signed. */
  readonly signed?: SignedRefund
  /** A person lets it go to a payee on the denylist, until it is paid or fails again. */
  readonly isReleased?: true
}

export type PayoutState = Payout['state']
export type PayoutIn<S extends PayoutState> = Extract<Payout, { state: S }>

/** A rebuilt record goes from `DUE` straight to `CONFIRMED`. A signature may expire unused: then it is `DUE` again. */
export const payoutMoves = {
  DUE: ['APPROVED', 'CONFIRMED', 'FAILED'],
  APPROVED: ['DUE', 'CONFIRMED', 'FAILED'],
  CONFIRMED: [],
  FAILED: ['DUE'],
} as const satisfies Record<PayoutState, readonly PayoutState[]>

export interface Debt {
  /** Names the payout for ever, so that one debt is paid once. */
  readonly reference: string
  readonly since: Date
  readonly payee: string
  /** Decides the payout in all its parts. Sends nothing. */
  sign(): Promise<SignedRefund>
  /** Tells the operator. `held`: it waits, because refunds are stopped or a cap is reached. */
  report(name: 'failed' | 'held', reason: string): void
}

export interface PayoutDeps {
  readonly now: () => Date
  readonly methods: PaymentMethods
  readonly payoutLimits: PayoutLimits
  readonly denylist: Denylist
}

export type PayoutStep<S extends PayoutState = PayoutState> =
  | { readonly type: 'move'; readonly to: PayoutIn<(typeof payoutMoves)[S][number]> }
  | { readonly type: 'wait'; readonly ms: number }
  /** As `wait`, because the limits do not allow it now. */
  | { readonly type: 'held'; readonly ms: number }

/** How often a payout that the limits hold back is tried again; milliseconds. */
const heldPollMs = 60_000

/** Why a payout is held for a person: its payee is on the denylist. */
export const payeeDeclined = 'payee_declined'

/** Denylist and payout limits are asked before it is signed and before it is sent. */
export async function nextForPayout(
  deps: PayoutDeps,
  debt: Debt,
  payout: PayoutIn<'DUE' | 'APPROVED'>,
): Promise<PayoutStep<'DUE' | 'APPROVED'>> {
  if (!payout.isReleased && isDenied(deps.denylist, debt.payee)) {
    const fault = {
      code: payeeDeclined,
      reason: 'The store pays this address nothing at present.',
    }
    return { type: 'move', to: failedPayout(debt, payout, fault) }
  }
  const answer = await deps.payoutLimits.allow(debt.reference)
  switch (answer) {
    case 'granted':
      return payout.state === 'DUE' ? approve(debt, payout) : sendPayout(deps, debt, payout)
    case 'over_cap': {
      const reason = 'The refund is above the cap for all refunds.'
      return { type: 'move', to: failedPayout(debt, payout, { code: answer, reason }) }
    }
    case 'stopped':
    case 'hour_cap':
    case 'day_cap':
      debt.report('held', answer)
      return { type: 'held', ms: heldPollMs }
    default:
      return never(answer)
  }
}

async function approve(debt: Debt, due: PayoutIn<'DUE'>): Promise<PayoutStep<'DUE'>> {
  const signed = due.signed ?? (await debt.sign())
  return { type: 'move', to: { ...due, state: 'APPROVED', signed } }
}

/** Safe to repeat, by any node, after any crash. */
async function sendPayout(
  { now, methods }: PayoutDeps,
  debt: Debt,
  { signed, ...payout }: PayoutIn<'APPROVED'>,
): Promise<PayoutStep<'APPROVED'>> {
  const result = await methodOf(methods, signed).payBack(signed)
  switch (result.outcome) {
    case 'paid': {
      const { outcome: _, ...paid } = result
      return { type: 'move', to: { state: 'CONFIRMED', ...paid, confirmedAt: now() } }
    }
    case 'pending':
      return { type: 'wait', ms: pollDelay(debt.since, now()) }
    case 'lapsed':
      return { type: 'move', to: { ...payout, state: 'DUE' } }
    case 'blocked':
      return {
        type: 'move',
        to: failedPayout(debt, { ...payout, ...(result.mayStillPay && { signed }) }, result),
      }
    default:
      return never(result)
  }
}

/** A payout that waits for an operator, because no retry would change anything. */
export function failedPayout(
  { report }: Pick<Debt, 'report'>,
  { knownFault, signed }: Known,
  { code, reason }: { readonly code: string; readonly reason: string },
): PayoutIn<'FAILED'> {
  if (knownFault !== code) report('failed', code)
  return { state: 'FAILED', code, reason, ...(signed && { signed }) }
}

/** A block may be as much later than our clock, and a payment in it is seen later still. */
const liveMarginMs = 300_000

/** Why a failed payout may be neither dropped nor booked as paid in another way: its signature may still pay it. */
export function whyLive({ signed }: PayoutIn<'FAILED'>, now: Date): string | undefined {
  if (signed?.method !== 'x402') return undefined
  const until = new Date(signed.validBefore * 1_000 + liveMarginMs)
  return now < until
    ? `what was signed can be paid until ${until.toISOString()}; wait until then`
    : undefined
}

/** `over_cap`: a single payout is above the cap of an hour or a day, and waiting does not help. */
export type Allowance = 'granted' | 'stopped' | 'hour_cap' | 'day_cap' | 'over_cap'

/** The last bound on a loss: caps, and a switch that stops all payouts. */
export interface PayoutLimits {
  /**
   * Grants a payout, on record and before it is signed. It counts towards the caps once. Returns have separate caps of
   * the same height, because anybody can cause returns, and they must not hold up refunds.
   */
  allow(reference: string): Promise<Allowance>
}
