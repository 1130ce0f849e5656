import {
  type Checkout,
  type CheckoutState,
  checkoutBalancesOf,
  claimedUnits,
  type InvoicedCheckout,
  isClosed,
  isInvoiced,
  isVoid,
  maxKept,
  priceUnits,
  type Return,
  settledUnits,
  worthOf,
} from '../../src/checkouts/checkout.ts'
import type { PayoutState } from '../../src/orders/payout.ts'

/** The whole life of a checkout. Whether the order gets the price is decided once. */
export const checkoutMoves = {
  OPENING: ['OPEN', 'REFUSED'],
  REFUSED: [],
  OPEN: ['ORDERED', 'ENDED'],
  ORDERED: [],
  ENDED: [],
} as const satisfies Record<CheckoutState, readonly CheckoutState[]>

export function unreturnedUnits(checkout: Checkout): bigint {
  return isInvoiced(checkout) ? settledUnits(checkout.invoice) - claimedUnits(checkout) : 0n
}

/** Facts outside of a checkout that its rules depend on. */
export interface Around {
  readonly isGranted: (seq: number) => boolean
  readonly hasOrder: boolean
}

/**
 * The database's rules for every move of a checkout, for the store in memory.
 *
 * @throws if the move breaks one of them
 */
export function requireLawful(from: Checkout, to: Checkout, around: Around): void {
  const refuse = (reason: string): never => {
    throw new Error(`checkout ${from.id}: ${reason}`)
  }
  if (to.state !== from.state && !movesOf(from).includes(to.state)) {
    refuse(`${to.state} cannot follow ${from.state}`)
  }
  if (wantedIn(from) !== wantedIn(to)) refuse('what was wanted never changes')
  if (isClosed(from)) refuse('it is closed, for good')
  if (!isInvoiced(to)) return
  if (isInvoiced(from)) requireSame(from, to, refuse)
  requireReturns(isInvoiced(from) ? from.returns : [], to, around, refuse)
  requireSums(to, refuse)
  if (to.state === 'ORDERED' && to.isPlaced && !around.hasOrder) {
    refuse('its order is not on record')
  }
}

type Refuse = (reason: string) => never

function movesOf({ state }: Checkout): readonly string[] {
  return checkoutMoves[state]
}

function wantedIn({ id, orderId, item, formKeyHash, coin, amount, startedAt }: Checkout): string {
  return [
    id,
    orderId,
    item.kind,
    item.offerId,
    formKeyHash,
    coin,
    amount,
    startedAt.toISOString(),
  ].join()
}

function requireSame(from: InvoicedCheckout, to: InvoicedCheckout, refuse: Refuse): void {
  const isSame = from.invoice.id === to.invoice.id && from.invoice.units === to.invoice.units
  if (!isSame) refuse('its invoice never changes')
  if (from.state !== 'ORDERED' || to.state !== 'ORDERED') return
  if (from.price !== to.price) refuse('its price was decided, for good')
  if (from.isPlaced && !to.isPlaced) refuse('its order was placed, for good')
}

function requireReturns(
  before: readonly Return[],
  { state, returns }: InvoicedCheckout,
  { isGranted }: Around,
  refuse: Refuse,
): void {
  if (state === 'OPEN' && returns.length > 0) {
    refuse('nothing goes back before it is decided whose the price is')
  }
  if (returns.some(({ seq }, index) => seq !== index + 1)) refuse('its returns count from 1')
  for (const old of before) {
    if (!follows(old, returns[old.seq - 1])) refuse(`return ${old.seq} cannot become this one`)
  }
  const paid = returns.filter(
    ({ payout }) => payout.state === 'APPROVED' || payout.state === 'CONFIRMED',
  )
  for (const { seq } of paid) {
    if (!isGranted(seq)) refuse(`return ${seq} was not granted`)
  }
}

/** Unlike a refund, the payout of a return never lapses, and only an approved one can be confirmed. */
export const returnMoves = {
  DUE: ['APPROVED', 'FAILED'],
  APPROVED: ['CONFIRMED', 'FAILED'],
  CONFIRMED: [],
  FAILED: ['DUE'],
} as const satisfies Record<PayoutState, readonly PayoutState[]>

function follows(old: Return, now: Return | undefined): boolean {
  if (!now || now.units !== old.units || now.why !== old.why) return false
  const { payout } = now
  if (old.payout.state === 'CONFIRMED') {
    return payout.state === 'CONFIRMED' && payout.transaction === old.payout.transaction
  }
  const moves: readonly PayoutState[] = returnMoves[old.payout.state]
  return payout.state === old.payout.state || moves.includes(payout.state)
}

function requireSums(to: InvoicedCheckout, refuse: Refuse): void {
  const price = priceUnits(to)
  const isPriceFair = price >= 1n && price <= to.invoice.units
  if (to.state === 'ORDERED' && !isPriceFair) refuse('its price is not that of its invoice')
  if (price > settledUnits(to.invoice)) refuse('its price is more than came')
  if (unreturnedUnits(to) < 0n) refuse('more goes back than came')
  if (to.closedAt !== undefined) requireDone(to, refuse)
}

function requireDone(to: InvoicedCheckout, refuse: Refuse): void {
  if (to.state === 'OPEN') refuse('nothing is decided yet')
  if (to.state === 'ORDERED' && !to.isPlaced) refuse('its order was not placed')
  if (to.returns.some((one) => one.payout.state !== 'CONFIRMED' && !isVoid(one)))
    refuse('something still goes back')
  const kept = -(checkoutBalancesOf(to).find(({ account }) => account === 'kept')?.amount ?? 0n)
  if (worthOf(to, kept) > maxKept) refuse('more than dust would be kept')
}
