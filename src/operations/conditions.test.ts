import { expect, test } from 'vitest'
import { conditions } from './conditions.ts'
import { ills, wellState } from './store-state.fixture.ts'
import type { StoreState } from './store-state.ts'

function heldIn(state: StoreState): readonly string[] {
  return Object.entries(conditions).flatMap(([name, { holds }]) =>
    (holds(state) ?? []).map(() => name),
  )
}

test('nothing is told of a small store that is well, nor of one that has just begun', () => {
  expect(heldIn(wellState())).toEqual([])
  const pace = { refunds: 0, transfers: 0, suppliers: new Map() }
  expect(heldIn(wellState({ pace }))).toEqual([])
})

test('each condition holds for its own facts, and no other does', () => {
  expect(Object.keys(ills)).toEqual(Object.keys(conditions))
  for (const [name, states] of Object.entries(ills)) {
    for (const ill of states) expect(heldIn(wellState(ill)), name).toEqual([name])
  }
})

test('what cannot be read is neither well nor ill', () => {
  const nothing = {
    ...{ orders: undefined, checkouts: undefined, pace: undefined, runs: undefined },
    ...{ chain: undefined, belowMargin: undefined },
  }
  const unknown = Object.entries(conditions).filter(
    ([, { holds }]) => holds(wellState(nothing)) === undefined,
  )
  expect(unknown.map(([name]) => name)).toEqual([
    ...['wallet_low', 'refund_failed', 'return_failed', 'goodwill_failed', 'refunds_stopped'],
    ...['reconcile_differs', 'run_old', 'below_margin'],
  ])
})

test('a wallet is named with the hours that it lasts at the pace of the last week', () => {
  const suppliers = new Map([['zendit', 4_000_000]])
  const pace = { refunds: 0, transfers: 0, suppliers }
  expect(conditions['wallet_low']?.holds(wellState({ pace }))).toEqual([
    {
      subject: 'supplier zendit',
      text: 'The wallet supplier zendit lasts for 25 hours at the pace of the last week.',
    },
  ])
})
