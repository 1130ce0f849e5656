import { expect, test } from 'vitest'
import { handClock } from '../../test/doubles/orders.ts'
import { usdc } from '../primitives/money.ts'
import { watchFunds } from './funds.ts'

const funds = (available: bigint, committed = 0n) => ({
  available: usdc(available),
  committed: usdc(committed),
})

function begin() {
  const clock = handClock()
  const watch = watchFunds(clock.now)
  const refuse = (reference: string, amount?: bigint) =>
    watch.noteRefusal({
      reference,
      at: clock.now(),
      ...(amount === undefined ? {} : { amount: usdc(amount) }),
    })
  return { clock, watch, refuse }
}

test('two purchases that are refused for want of funds close the supplier, one told twice does not', () => {
  const { watch, refuse } = begin()
  refuse('a')
  refuse('a', 5n)
  expect(watch.isRefused()).toBe(false)
  refuse('b')
  expect(watch.isRefused()).toBe(true)
})

test('a balance opens it again that is more than the one that did not suffice', () => {
  const { watch, refuse } = begin()
  watch.noteBalance(funds(8n))
  refuse('a', 5n)
  refuse('b', 7n)
  // The supplier refused with this balance, whatever it reads.
  watch.noteBalance(funds(8n))
  expect(watch.isRefused()).toBe(true)
  watch.noteBalance(funds(10n, 3n))
  expect(watch.isRefused()).toBe(false)
  // Who learns of them later does not close it once more.
  refuse('a', 5n)
  refuse('b', 7n)
  expect(watch.isRefused()).toBe(false)
})

test('a balance that explains the refusals bounds purchases by itself', () => {
  const { watch, refuse } = begin()
  watch.noteBalance(funds(8n))
  refuse('a', 5n)
  refuse('b', 7n)
  watch.noteBalance(funds(6n, 2n))
  expect(watch.isRefused()).toBe(false)
})

test('while it is not known what the refused purchases cost, no balance opens it', () => {
  const { watch, refuse } = begin()
  refuse('a')
  refuse('b')
  watch.noteBalance(funds(1_000n))
  expect(watch.isRefused()).toBe(true)
  refuse('a', 5n)
  refuse('b', 5n)
  // None was seen before they were refused, so this one is not known not to suffice.
  watch.noteBalance(funds(1_000n))
  expect(watch.isRefused()).toBe(false)
})

test('a refusal that another node heard before our last look at the balance still counts', () => {
  const { clock, watch } = begin()
  const at = clock.now()
  clock.pass(4_000)
  watch.noteBalance(funds(100n))
  watch.noteRefusal({ reference: 'a', at, amount: usdc(5n) })
  watch.noteRefusal({ reference: 'b', at, amount: usdc(5n) })
  expect(watch.isRefused()).toBe(true)
})

test('a refusal is forgotten after an hour', () => {
  const { clock, watch, refuse } = begin()
  refuse('a', 5n)
  refuse('b', 5n)
  clock.pass(60 * 60_000 - 1)
  expect(watch.isRefused()).toBe(true)
  clock.pass(1)
  expect(watch.isRefused()).toBe(false)
})
