import { describe, expect, test } from 'vitest'
import { handClock } from '../../test/doubles/orders.ts'
import { usdc } from '../lib/money.ts'
import { createHealth, watchFunds } from './health.ts'
import { ample, fundsOf } from './means.fixture.ts'

const measured = ['supplier', 'chain', 'database'] as const
const minute = 60_000
const seenWell = { ...ample, cheapest: usdc(4n) }

function wellStore() {
  const clock = handClock()
  const health = createHealth(clock.now)
  health.noteCatalog(clock.now())
  health.noteMeans(seenWell)
  const note = (part: (typeof measured)[number], ok: boolean) =>
    part === 'supplier'
      ? health.noteSupplier('zendit', ok, ok ? '' : 'timeout')
      : health.note(part, ok, ok ? '' : 'timeout')
  for (const part of measured) note(part, true)
  const fail = (part: (typeof measured)[number], times = 1) => {
    for (let time = 0; time < times; time += 1) note(part, false)
  }
  return { clock, health, note, fail }
}

describe('the signals', () => {
  test('say pay while every part is healthy', () => {
    const { health, clock } = wellStore()
    expect(health.signals()).toEqual({
      provider_health: 'healthy',
      agent_action: 'pay',
      last_updated: clock.now().toISOString(),
    })
  })

  test.each(measured)('say stop once %s failed three times in a row', (part) => {
    const { health, note, fail } = wellStore()
    fail(part, 2)
    expect(health.signals().agent_action).not.toBe('stop')
    fail(part)
    expect(health.signals()).toMatchObject({ provider_health: 'down', agent_action: 'stop' })
    expect(health.parts()[part]).toEqual({ state: 'down', detail: 'timeout' })
    note(part, true)
    expect(health.signals().agent_action).toBe('retry_later')
  })

  test('say stop while the database refuses writes, even if reads succeed', () => {
    const { health, clock } = wellStore()
    health.noteUnwritable('disk full')
    health.note('database', true)
    expect(health.parts().database).toEqual({ state: 'down', detail: 'disk full' })
    expect(health.signals().agent_action).toBe('stop')
    clock.pass(3_000)
    expect(health.signals().agent_action).toBe('stop')
    clock.pass(1)
    expect(health.signals().agent_action).toBe('pay')
  })

  test('say stop, and why, while sales are paused', () => {
    const { health } = wellStore()
    health.notePause(true, false)
    expect(health.signals()).toMatchObject({
      provider_health: 'down',
      agent_action: 'stop',
      reason: 'Sales are paused.',
    })
    expect(health.parts().sales.state).toBe('down')
    expect(health.unsold(usdc(5n), 'zendit', true)).toEqual({ type: 'paused' })
    expect(health.unsold(usdc(5n), 'zendit', false)).toEqual({ type: 'paused' })
    health.notePause(false, false)
    expect(health.signals()).toMatchObject({ provider_health: 'healthy', agent_action: 'pay' })
    expect(health.signals()).not.toHaveProperty('reason')
  })

  test('say stop while x402 is paused, and coins go on', () => {
    const { health } = wellStore()
    health.notePause(false, true)
    expect(health.signals()).toMatchObject({ provider_health: 'degraded', agent_action: 'stop' })
    expect(health.unsold(usdc(5n), 'zendit', true)).toEqual({ type: 'paused' })
    expect(health.unsold(usdc(5n), 'zendit', false)).toBeUndefined()
  })

  test('say retry_later while more than a quarter fails', () => {
    const { health, fail } = wellStore()
    for (let time = 0; time < 5; time += 1) health.noteSupplier('zendit', true)
    fail('supplier', 2)
    expect(health.signals().agent_action).toBe('pay')
    fail('supplier')
    health.noteSupplier('zendit', true)
    expect(health.signals()).toMatchObject({
      provider_health: 'degraded',
      agent_action: 'retry_later',
    })
  })

  test('ignore outcomes older than five minutes', () => {
    const { health, fail, clock } = wellStore()
    fail('chain', 3)
    clock.pass(5 * minute)
    expect(health.signals().agent_action).toBe('stop')
    clock.pass(1)
    expect(health.signals().agent_action).toBe('pay')
  })

  test('say stop before the first catalog, and retry_later when it is an hour old', () => {
    const { clock } = wellStore()
    const health = createHealth(clock.now)
    health.noteMeans(seenWell)
    expect(health.signals().agent_action).toBe('stop')
    health.noteCatalog(clock.now())
    clock.pass(60 * minute)
    expect(health.signals().agent_action).toBe('pay')
    clock.pass(1)
    expect(health.signals().agent_action).toBe('retry_later')
  })

  test('detect an outage after any number of old successes', () => {
    const { health, fail } = wellStore()
    for (let time = 0; time < 1_000; time += 1) health.note('database', true)
    fail('database', 3)
    expect(health.signals().agent_action).toBe('stop')
  })
})

describe('a sale', () => {
  const held = (funds: bigint, float = 1_000n) => ({
    ...seenWell,
    cover: { float: usdc(float), exposure: usdc(0n) },
    funds: fundsOf(funds),
  })

  test('is deducted from the bounds until the means include its order', () => {
    const { clock, health } = wellStore()
    health.noteMeans(held(10n))
    const lookBegan = clock.now()
    expect(health.sell('a', usdc(6n), 'zendit')).toBeUndefined()
    expect(health.unsold(usdc(6n), 'zendit', true)).toMatchObject({
      type: 'too_large',
      bound: { max: 4n },
    })
    expect(health.sell('b', usdc(6n), 'zendit')?.type).toBe('too_large')
    // The reading that was in progress may have missed the order.
    health.noteOpened('a')
    health.noteMeans(held(10n), lookBegan)
    expect(health.sell('b', usdc(6n), 'zendit')?.type).toBe('too_large')
    clock.pass(1)
    health.noteMeans(held(10n))
    expect(health.sell('b', usdc(6n), 'zendit')).toBeUndefined()
  })

  test('stays deducted from the bounds until its order is on record', () => {
    const { clock, health } = wellStore()
    health.noteMeans(held(10n))
    health.sell('a', usdc(6n), 'zendit')
    clock.pass(5_000)
    health.noteMeans(held(10n))
    expect(health.sell('b', usdc(6n), 'zendit')?.type).toBe('too_large')
  })

  test('stays deducted when an equal request opens no order after its own did', () => {
    const { health } = wellStore()
    health.noteMeans(held(10n))
    health.sell('a', usdc(6n), 'zendit')
    health.sell('a', usdc(6n), 'zendit')
    health.noteOpened('a')
    health.unsell('a')
    expect(health.sell('b', usdc(6n), 'zendit')?.type).toBe('too_large')
  })

  test('counts once for a repeated payment, and not at all without an order', () => {
    const { health } = wellStore()
    health.noteMeans(held(10n))
    for (let time = 0; time < 3; time += 1)
      expect(health.sell('a', usdc(6n), 'zendit')).toBeUndefined()
    health.unsell('a')
    expect(health.sell('b', usdc(10n), 'zendit')).toBeUndefined()
    expect(health.signals().agent_action).toBe('stop')
  })
})

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
