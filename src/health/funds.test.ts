import { expect, test } from 'vitest'
import { handClock } from '../../test/doubles/orders.ts'
import { usdc } from '../lib/money.ts'
import { watchFunds } from './funds.ts'

const funds = (available: bigint, committed = 0n) => ({
  available: usdc(available),
  committed: usdc(committed),
  unconfirmed: usdc(0n),
  pending: usdc(0n),
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

test('two refusals for insufficient funds close the supplier, one reported twice does not', () => {
  const { watch, refuse } = begin()
  refuse('a')
  refuse('a', 5n)
  expect(watch.isRefused()).toBe(false)
  refuse('b')
  expect(watch.isRefused()).toBe(true)
})

test('a balance higher than the insufficient one reopens the supplier', () => {
  const { watch, refuse } = begin()
  watch.noteBalance(funds(8n))
  refuse('a', 5n)
  refuse('b', 7n)
  // The supplier refused purchases with this balance.
  watch.noteBalance(funds(8n))
  expect(watch.isRefused()).toBe(true)
  watch.noteBalance(funds(10n, 3n))
  expect(watch.isRefused()).toBe(false)
  // Reporting the same refusals again does not close the supplier again.
  refuse('a', 5n)
  refuse('b', 7n)
  expect(watch.isRefused()).toBe(false)
})

test('a balance that explains the refusals limits purchases by itself', () => {
  const { watch, refuse } = begin()
  watch.noteBalance(funds(8n))
  refuse('a', 5n)
  refuse('b', 6n)
  // The balance covers each order, but not together with the open orders.
  watch.noteBalance(funds(6n, 2n))
  expect(watch.isRefused()).toBe(false)
})

test('no balance reopens the supplier while the prices of the refused purchases are unknown', () => {
  const { watch, refuse } = begin()
  refuse('a')
  refuse('b')
  watch.noteBalance(funds(1_000n))
  expect(watch.isRefused()).toBe(true)
  refuse('a', 5n)
  refuse('b', 5n)
  // No balance was known before the refusals, so this one may be sufficient.
  watch.noteBalance(funds(1_000n))
  expect(watch.isRefused()).toBe(false)
})

test('a refusal that another node got before the last balance check still counts', () => {
  const { clock, watch } = begin()
  const at = clock.now()
  clock.pass(4_000)
  watch.noteBalance(funds(100n))
  watch.noteRefusal({ reference: 'a', at, amount: usdc(5n) })
  watch.noteRefusal({ reference: 'b', at, amount: usdc(5n) })
  expect(watch.isRefused()).toBe(true)
})

test('a failed order that had reserved the balance explains the refusals beside it', () => {
  const { clock, watch, refuse } = begin()
  watch.noteBalance(funds(8n))
  refuse('b', 5n, 8n)
  refuse('c', 5n, 8n)
  clock.pass(5_000)
  // The reservation has been released, so the balance is unchanged and nothing is open.
  watch.noteBalance(funds(8n))
  expect(watch.isRefused()).toBe(false)
})

test('allows one trial purchase five minutes after the last refusal, which decides', () => {
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
  // The trial did not become an order, so the next purchase is the trial.
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

test('forgets a refusal after an hour', () => {
  const { clock, watch, refuse } = begin()
  refuse('a', 5n)
  clock.pass(60 * 60_000 - 1)
  refuse('b', 5n)
  expect(watch.isRefused()).toBe(true)
  clock.pass(1)
  expect(watch.isRefused()).toBe(false)
})
