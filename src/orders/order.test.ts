import { expect, test } from 'vitest'
import { moves, refundMoves, type State } from './order.ts'

test('every state can be reached from PAYMENT_PENDING', () => {
  const reached = new Set<State>(['PAYMENT_PENDING'])
  for (const state of reached) for (const next of moves[state]) reached.add(next)
  expect([...reached].sort()).toEqual(Object.keys(moves).sort())
})

test('every step of a refund can be reached, and all but a failed one lead to the payout', () => {
  const reached = new Set<keyof typeof refundMoves>(['WAITING'])
  for (const step of reached) for (const next of refundMoves[step]) reached.add(next)
  expect([...reached].sort()).toEqual(Object.keys(refundMoves).sort())
  const ends = Object.entries(refundMoves).filter(([, next]) => next.length === 0)
  expect(ends.map(([step]) => step)).toEqual(['REFUNDED'])
})

test('money that was taken ends as goods or goes back', () => {
  const ends = (Object.keys(moves) as State[]).filter((state) => moves[state].length === 0)
  expect(ends.sort()).toEqual(['EXPIRED', 'FULFILLED', 'FULFILLMENT_FAILED', 'PAYMENT_FAILED'])
})
