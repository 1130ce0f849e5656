import { describe, expect, test } from 'vitest'
import { handClock } from '../../test/doubles/orders.ts'
import { usdc } from '../lib/money.ts'
import { createHealth } from './health.ts'
import { ample } from './means.fixture.ts'
import { type Part, signalsOf } from './signals.ts'

const measured = ['supplier', 'chain', 'database'] as const
const minute = 60_000
const seenWell = { ...ample, cheapest: usdc(4n) }

function wellStore() {
  const clock = handClock()
  const health = createHealth(clock.now)
  health.noteCatalog(clock.now())
  health.noteMeans(seenWell)
  for (const part of measured) health.note(part, true)
  const fail = (part: (typeof measured)[number], times = 1) => {
    for (let time = 0; time < times; time += 1) health.note(part, false, 'timeout')
  }
  return { clock, health, fail }
}

describe('the signals', () => {
  test('say pay while everything is well', () => {
    const { health, clock } = wellStore()
    expect(health.signals()).toEqual({
      provider_health: 'healthy',
      agent_action: 'pay',
      last_updated: clock.now().toISOString(),
    })
  })

  test.each(measured)('say stop once %s failed three times in a row', (part) => {
    const { health, fail } = wellStore()
    fail(part, 2)
    expect(health.signals().agent_action).not.toBe('stop')
    fail(part)
    expect(health.signals()).toMatchObject({ provider_health: 'down', agent_action: 'stop' })
    expect(health.parts()[part]).toEqual({ state: 'down', detail: 'timeout' })
    health.note(part, true)
    expect(health.signals().agent_action).toBe('retry_later')
  })

  test('say stop while the database takes no writes, however well it is read', () => {
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

  test('say retry_later while more than a quarter fails', () => {
    const { health, fail } = wellStore()
    for (let time = 0; time < 5; time += 1) health.note('supplier', true)
    fail('supplier', 2)
    expect(health.signals().agent_action).toBe('pay')
    fail('supplier')
    health.note('supplier', true)
    expect(health.signals()).toMatchObject({
      provider_health: 'degraded',
      agent_action: 'retry_later',
    })
  })

  test('forget what is older than five minutes', () => {
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

  test('are made of what the tally tells', () => {
    const { health, fail, clock } = wellStore()
    fail('supplier', 2)
    expect(health.tally('supplier')).toEqual({ good: 1, failed: 2 })
    expect(health.tally('chain')).toEqual({ good: 1, failed: 0 })
    clock.pass(5 * minute + 1)
    expect(health.tally('supplier')).toEqual({ good: 0, failed: 0 })
  })

  test('see an outage behind any number of old successes', () => {
    const { health, fail } = wellStore()
    for (let time = 0; time < 1_000; time += 1) health.note('database', true)
    fail('database', 3)
    expect(health.signals().agent_action).toBe('stop')
  })

  test('stop purchases while refunds may need more than their wallet holds with one purchase more', () => {
    const health = createHealth(() => new Date(0))
    health.noteCatalog(new Date(0))
    const cover = (float: bigint, exposure: bigint) => {
      const cover = { float: usdc(float), exposure: usdc(exposure) }
      health.noteMeans({ ...seenWell, cover })
      return health.signals().agent_action
    }
    expect([cover(21n, 5n), cover(20n, 5n), cover(5n, 6n)]).toEqual(['pay', 'stop', 'stop'])
    health.noteMeans(seenWell)
    expect(health.signals().agent_action).toBe('pay')
  })

  test.each(['cover', 'gas', 'funds'] as const)(
    'stop purchases while %s was not seen lately, because no bound is known',
    (part) => {
      const { health } = wellStore()
      health.noteMeans({ ...seenWell, [part]: undefined })
      expect(health.signals().agent_action).toBe('stop')
    },
  )

  test('are as bad as the worst part, whichever it is', () => {
    const well = { state: 'healthy', detail: '' } as const
    const parts = {
      supplier: well,
      chain: well,
      database: well,
      catalog: well,
      refunds: well,
      gas: well,
    }
    const now = new Date(0)
    const actions = { healthy: 'pay', degraded: 'retry_later', down: 'stop' } as const
    for (const part of Object.keys(parts) as Part[]) {
      for (const [state, action] of Object.entries(actions)) {
        const ill = { ...parts, [part]: { state, detail: '' } }
        expect(signalsOf(ill, now)).toMatchObject({ provider_health: state, agent_action: action })
      }
    }
    const both = {
      ...parts,
      chain: { ...well, state: 'degraded' },
      supplier: { ...well, state: 'down' },
    }
    expect(signalsOf(both as typeof parts, now).agent_action).toBe('stop')
  })
})

describe('what is sold', () => {
  const held = (funds: bigint, float = 1_000n) => ({
    ...seenWell,
    cover: { float: usdc(float), exposure: usdc(0n) },
    funds: { available: usdc(funds), committed: usdc(0n), unconfirmed: usdc(0n) },
  })

  test('is taken off the bounds until a look that began after its order was on record', () => {
    const { clock, health } = wellStore()
    health.noteMeans(held(10n))
    const lookBegan = clock.now()
    expect(health.sell('a', usdc(6n))).toBeUndefined()
    expect(health.unsold(usdc(6n), true)).toMatchObject({ type: 'too_large', bound: { most: 4n } })
    expect(health.sell('b', usdc(6n))?.type).toBe('too_large')
    // The look that was under way may not have seen it.
    health.noteOpened('a')
    health.noteMeans(held(10n), lookBegan)
    expect(health.sell('b', usdc(6n))?.type).toBe('too_large')
    clock.pass(1)
    health.noteMeans(held(10n))
    expect(health.sell('b', usdc(6n))).toBeUndefined()
  })

  test('is taken off the bounds however many looks pass before its order is on record', () => {
    const { clock, health } = wellStore()
    health.noteMeans(held(10n))
    health.sell('a', usdc(6n))
    clock.pass(5_000)
    health.noteMeans(held(10n))
    expect(health.sell('b', usdc(6n))?.type).toBe('too_large')
  })

  test('is the same sale when its payment comes again, and none when no order was opened', () => {
    const { health } = wellStore()
    health.noteMeans(held(10n))
    for (let time = 0; time < 3; time += 1) expect(health.sell('a', usdc(6n))).toBeUndefined()
    health.unsell('a')
    expect(health.sell('b', usdc(10n))).toBeUndefined()
    expect(health.signals().agent_action).toBe('stop')
  })
})
