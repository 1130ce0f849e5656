import { describe, expect, test } from 'vitest'
import { memoryOrders } from '../../../test/doubles/memory-orders.ts'
import { handClock } from '../../../test/doubles/orders.ts'
import { createDigest } from '../../secrets/secrets.ts'
import {
  LimitsAnswer,
  type LimitsDeps,
  liftLimits,
  readLimits,
  setLimits,
  showLimits,
} from './keep.ts'

const wallet = `0x${'Ab'.repeat(20)}`
const hour = 3_600_000
const oldKey = Buffer.alloc(32, 1)
const newKey = Buffer.alloc(32, 2)
const me = '+5355564362'

function world(coolingHours = 24) {
  const clock = handClock()
  const { limits } = memoryOrders(clock.now)
  const digest = createDigest([oldKey], 'orders')
  const deps: LimitsDeps = { limits, digest, now: clock.now, coolingMs: coolingHours * hour }
  return { clock, limits, deps }
}

describe('the limits of a wallet', () => {
  test('are none at first', async () => {
    const { deps } = world()
    const shown = await showLimits(deps, wallet)
    expect(LimitsAnswer.parse(shown)).toEqual(shown)
    expect(shown).toEqual({
      wallet,
      inForce: {},
      coming: null,
      coolingHours: 24,
      lastDay: {
        since: '2026-01-04T12:00:00.000Z',
        spent: { usdc: '0.00', atomic: '0' },
        remaining: null,
      },
    })
  })

  test('are told in USDC and in atomic units, and recipients as their number', async () => {
    const { deps, limits } = world()
    const body = readLimits({
      perOrderUsdc: '5',
      perDayUsdc: '12.5',
      kinds: ['topup', 'esim', 'topup'],
      countries: ['US', 'DE'],
      recipients: [me, '+53 5 556-4362', 'Ada@example.com', 'ada@EXAMPLE.com'],
    })
    const set = await setLimits(deps, wallet, body)
    expect(LimitsAnswer.parse(set)).toEqual(set)
    expect(set.inForce).toEqual({
      perOrder: { usdc: '5.00', atomic: '5000000' },
      perDay: { usdc: '12.50', atomic: '12500000' },
      kinds: ['esim', 'topup'],
      countries: ['DE', 'US'],
      recipients: 2,
    })
    expect(set.lastDay.remaining).toEqual({ usdc: '12.50', atomic: '12500000' })
    expect(await showLimits(deps, wallet)).toEqual(set)
    const kept = JSON.stringify((await limits.find(wallet))?.limits, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    for (const personal of ['5355564362', 'ada', 'Ada']) expect(kept).not.toContain(personal)
  })

  test('that are lifted hold for another day, and are gone after it', async () => {
    const { deps, clock, limits } = world()
    await setLimits(deps, wallet, { kinds: ['esim'] })
    const lifted = await liftLimits(deps, wallet)
    expect(lifted).toMatchObject({
      inForce: { kinds: ['esim'] },
      coming: { from: '2026-01-06T12:00:00.000Z', limits: {} },
    })
    clock.pass(24 * hour - 1)
    expect((await showLimits(deps, wallet)).inForce).toEqual({ kinds: ['esim'] })
    clock.pass(1)
    expect(await showLimits(deps, wallet)).toMatchObject({ inForce: {}, coming: null })
    expect(await limits.forgetLifted(clock.now())).toBe(1)
    expect(await limits.find(wallet)).toBeUndefined()
  })

  test('leave nothing on record when they are lifted without a cooling', async () => {
    const { deps, limits } = world(0)
    await setLimits(deps, wallet, { kinds: ['esim'] })
    expect(await liftLimits(deps, wallet)).toMatchObject({ inForce: {}, coming: null })
    expect(await limits.find(wallet)).toBeUndefined()
    expect(await liftLimits(deps, wallet)).toMatchObject({ inForce: {}, coming: null })
  })

  test('that two set at once are both kept to', async () => {
    const { deps } = world()
    await Promise.all([
      setLimits(deps, wallet, { perOrderUsdc: '5' }),
      setLimits(deps, wallet, { kinds: ['esim'] }),
    ])
    expect((await showLimits(deps, wallet)).inForce).toEqual({
      perOrder: { usdc: '5.00', atomic: '5000000' },
      kinds: ['esim'],
    })
  })

  test('that are never left alone are answered with try_again', async () => {
    const { deps, limits } = world()
    let tries = 0
    const replace = async () => {
      tries += 1
      return false
    }
    const busy = { ...deps, limits: { ...limits, replace } }
    await expect(setLimits(busy, wallet, { kinds: ['esim'] })).rejects.toMatchObject({
      code: 'try_again',
    })
    expect(tries).toBe(5)
  })

  test('know a recipient again when the store has a new key, and another wallet’s do not', async () => {
    const { deps, limits } = world()
    await setLimits(deps, wallet, { recipients: [me] })
    const rotated = { ...deps, digest: createDigest([newKey, oldKey], 'orders') }
    expect((await setLimits(rotated, wallet, { recipients: [me] })).coming).toBeNull()
    const other = `0x${'cd'.repeat(20)}`
    await setLimits(deps, other, { recipients: [me] })
    const digests = await Promise.all([wallet, other].map((one) => limits.find(one)))
    expect(digests[0]?.limits.inForce).not.toEqual(digests[1]?.limits.inForce)
  })
})
