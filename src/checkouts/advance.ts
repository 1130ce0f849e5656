import { never } from '../lib/never.ts'
import { type Checkout, isClosed } from './checkout.ts'
import { ask, look } from './invoice.ts'
import { place } from './place.ts'
import type { CheckoutStep, CheckoutStepDeps } from './steps.ts'

/** A whole life takes fewer. A checkout that moves in circles must not hold its worker for ever. */
const maxMoves = 20
const circlePauseMs = 15_000

/**
 * Carries a checkout as far as it can go now, and leaves it to the sweep then. The answer to the form,
 * the sweep and a restart all come through here. The caller must hold the lease; it is given up.
 */
export async function advanceCheckout(deps: CheckoutStepDeps, begun: Checkout): Promise<Checkout> {
  let at: Position = { checkout: begun, movesLeft: maxMoves, isOver: isClosed(begun) }
  while (!at.isOver) at = await take(deps, at)
  return at.checkout
}

interface Position {
  readonly checkout: Checkout
  readonly movesLeft: number
  readonly isOver: boolean
}

/** Takes one step. Whoever lost the checkout to another worker stops, with what that one wrote. */
async function take(deps: CheckoutStepDeps, { checkout, movesLeft }: Position): Promise<Position> {
  const step = await stepOf(deps, checkout)
  if (step.type === 'wait') return leave(deps, checkout, step.ms)
  if (movesLeft === 0) return leave(deps, checkout, circlePauseMs)
  const moved = await deps.checkouts.move(checkout, forgetting(step.to))
  const isOver = !moved.won || isClosed(moved.checkout)
  if (!isOver && deps.stopping.aborted) return leave(deps, moved.checkout, 0)
  return { checkout: moved.checkout, movesLeft: movesLeft - 1, isOver }
}

/** Whom an order would count for is forgotten once it is on record, or can never be. */
function forgetting(checkout: Checkout): Checkout {
  const { subjects: _, ...rest } = checkout
  switch (checkout.state) {
    case 'OPENING':
    case 'OPEN':
      return checkout
    case 'ORDERED':
      return checkout.isPlaced ? rest : checkout
    default:
      return rest
  }
}

/** Leaves the checkout to the sweep. */
async function leave(
  deps: CheckoutStepDeps,
  checkout: Checkout,
  againInMs: number,
): Promise<Position> {
  await deps.checkouts.release(checkout, againInMs)
  return { checkout, movesLeft: 0, isOver: true }
}

/** The one next thing to do: the whole life of a checkout in one switch. */
function stepOf(deps: CheckoutStepDeps, checkout: Checkout): Promise<CheckoutStep> {
  switch (checkout.state) {
    case 'OPENING':
      return ask(deps, checkout)
    case 'OPEN':
    case 'ENDED':
      return look(deps, checkout)
    case 'ORDERED':
      return checkout.isPlaced ? look(deps, checkout) : place(deps, checkout)
    case 'REFUSED':
      throw new Error('a checkout that was refused is closed')
    default:
      return never(checkout)
  }
}
