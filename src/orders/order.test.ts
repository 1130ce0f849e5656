import { expect, test } from 'vitest'
import { moves, type State } from './order.ts'
import { type PayoutState, payoutMoves } from './payout.ts'

test('every state can be reached from PAYMENT_PENDING', () => {
  const reached = new Set<State>(['PAYMENT_PENDING'])
  for (const state of reached) for (const next of moves[state]) reached.add(next)
  expect([...reached].sort()).toEqual(Object.keys(moves).sort())
})

test('every state of a payout can be reached, and only a confirmed one is its end', () => {
  const reached = new Set<PayoutState>(['DUE'])
  for (const state of reached) for (const next of payoutMoves[state]) reached.add(next)
  expect([...reached].sort()).toEqual(Object.keys(payoutMoves).sort())
  const ends = Object.entries(payoutMoves).filter(([, next]) => next.length === 0)
  expect(ends.map(([state]) => state)).toEqual(['CONFIRMED'])
})

test('money that was taken ends as goods or goes back', () => {
  const ends = (Object.keys(moves) as State[]).filter((state) => moves[state].length === 0)
  expect(ends.sort()).toEqual(['EXPIRED', 'FULFILLED', 'FULFILLMENT_FAILED', 'PAYMENT_FAILED'])
})
