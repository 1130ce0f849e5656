import { expect, test } from 'vitest'
import { handClock } from '../../test/doubles/orders.ts'
import { usdc } from '../lib/money.ts'
import { watchFunds } from './funds.ts'

const funds = (available: bigint, committed = 0n) => ({
  available: usdc(available),
  committed: usdc(committed),
  unconfirmed: usdc(0n),
})

function begin() {
  const clock = handClock()
  const watch = watchFunds(clock.now)
  const refuse = (reference: string, amount?: bigint, releasedSince = 0n) =>
    watch.noteRefusal({
      reference,
      at: clock.now(),
      ...(amount === undefined ? {} : { amount: usdc(amount), releasedSince: usdc(releasedSince) }),
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
  refuse('b', 6n)
  // It would do for each, and not beside what is open.
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

test('an order that held the balance and came to nothing explains what was refused beside it', () => {
  const { clock, watch, refuse } = begin()
  watch.noteBalance(funds(8n))
  refuse('b', 5n, 8n)
  refuse('c', 5n, 8n)
  clock.pass(5_000)
  // It was released since, so the balance reads as before and nothing is open.
  watch.noteBalance(funds(8n))
  expect(watch.isRefused()).toBe(false)
})

test('five minutes after the last refusal one purchase is let through, and decides', () => {
  const { clock, watch, refuse } = begin()
  watch.noteBalance(funds(100n))
  refuse('a', 5n)
  clock.pass(60_000)
  refuse('b', 5n)
  clock.pass(5 * 60_000 - 1)
  expect(watch.isRefused()).toBe(true)
  clock.pass(1)
  expect(watch.isRefused()).toBe(false)
  watch.noteSold('c')
  expect(watch.isRefused()).toBe(true)
  // No order came of it, so the next one decides.
  watch.noteUnsold('c')
  expect(watch.isRefused()).toBe(false)
  watch.noteSold('c')
  refuse('c', 5n)
  clock.pass(5 * 60_000)
  watch.noteSold('d')
  watch.noteTaken('of an order before')
  expect(watch.isRefused()).toBe(true)
  watch.noteTaken('d')
  expect(watch.isRefused()).toBe(false)
})

test('a refusal is forgotten after an hour', () => {
  const { clock, watch, refuse } = begin()
  refuse('a', 5n)
  clock.pass(60 * 60_000 - 1)
  refuse('b', 5n)
  expect(watch.isRefused()).toBe(true)
  clock.pass(1)
  expect(watch.isRefused()).toBe(false)
})
