import { describe, expect, test } from 'vitest'
import { newOrder, orderWorld, type Script } from '../../test/doubles/orders.ts'
import { sweep } from '../../test/model/sweep.ts'
import type { X402Receipt } from '../payments/payment.ts'
import type { Collected, Collecting, Confirmation } from '../payments/ports.ts'
import { advance } from './advance.ts'
import { type Account, entriesOf } from './ledger.ts'
import { type In, isFinished, type Order } from './order.ts'
import { claimRefund } from './refund.ts'

/** Tests of a chain that drops its newest blocks, and with them a payment that was seen there. */

const minute = 60_000

type World = ReturnType<typeof orderWorld>

const elsewhere: Collected<X402Receipt> = {
  outcome: 'settled',
  receipt: { rail: 'x402', transaction: `0x${'e'.repeat(64)}`, block: 9 },
}
const dead: Collected<X402Receipt> = {
  outcome: 'failed',
  code: 'authorization_expired',
  reason: 'It ran out without being used.',
}
const unsure: Collected<X402Receipt> = { outcome: 'unknown', reason: 'timeout' }
const pendingSupply: Partial<Script> = { held: { outcome: 'pending' } }
const declined: Partial<Script> = { placed: { outcome: 'declined', code: 'X', reason: 'x' } }

/** Opens an order and carries it as far as the script lets it, without waiting. */
async function start(script: Partial<Script>): Promise<World> {
  const world = orderWorld(script)
  const { order } = await world.orders.open(newOrder(world.deps), [])
  await advance(world.deps, order, 0)
  return world
}

/** An order that was paid, and whose node died before it asked the supplier. */
async function leftLying(forMs: number, script: Partial<Script> = {}): Promise<World> {
  const world = orderWorld(script)
  const order = newOrder(world.deps)
  await world.orders.open(order, [])
  const now = world.clock.now()
  const paid: In<'PAID'> = {
    ...order,
    state: 'PAID',
    receipt: { rail: 'x402', transaction: `0x${'a'.repeat(64)}`, block: 7 },
    settlement: 'SEEN',
    paidAt: now,
    deliverBy: new Date(now.getTime() + 10 * minute),
  }
  const { record: stored } = await world.orders.move(order, paid)
  world.clock.pass(forMs)
  await advance(world.deps, stored, 0)
  return world
}

/** Runs the sweep while that much time passes. */
async function live(world: World, ms: number): Promise<Order> {
  for (let passed = 0; passed < ms; passed += 5_000) {
    world.clock.pass(5_000)
    await sweep(world.deps, 10)
  }
  return now(world)
}

function now(world: World): Order {
  const last = world.orders.history.at(-1)
  if (!last) throw new Error('no order was opened')
  return last
}

function times(world: World, call: string): number {
  return world.calls.filter((each) => each === call).length
}

function told(world: World): readonly string[] {
  return world.reports.map((event) =>
    'reason' in event ? `${event.name} ${event.reason}` : event.name,
  )
}

/** The balances of all ledger entries so far. */
function books({ orders: { history } }: World): Partial<Record<Account, bigint>> {
  const entries = history.flatMap((order, index) => entriesOf(history[index - 1], order))
  const sums: Partial<Record<Account, bigint>> = {}
  for (const { account, amount } of entries) sums[account] = (sums[account] ?? 0n) + amount
  return Object.fromEntries(Object.entries(sums).filter(([, sum]) => sum !== 0n))
}

const price = 500_000n
const open = { received: price, open: -price }
const delivered = { received: price, delivered: -price }
const refunded = { received: price, refunded: -price }

describe('an order left lying since its payment was seen', () => {
  test('is paid anew, or not, before the supplier is asked', async () => {
    const world = await leftLying(minute, { confirmation: 'gone', collected: unsure })
    expect(now(world)).toMatchObject({ state: 'PAYMENT_PENDING' })
    for (const field of ['receipt', 'settlement', 'paidAt', 'deliverBy']) {
      expect(now(world)).not.toHaveProperty(field)
    }
    expect([told(world), books(world)]).toEqual([['payment_vanished'], {}])

    world.script.collected = elsewhere
    expect(await live(world, 30_000)).toMatchObject({
      state: 'FULFILLED',
      receipt: { transaction: `0x${'e'.repeat(64)}` },
    })
    expect(world.calls.slice(0, 2)).toEqual(['confirmation', 'collect'])
    expect(world.calls.indexOf('place')).toBeGreaterThan(world.calls.lastIndexOf('collect'))
    expect(books(world)).toEqual(delivered)
  })

  test('ends without a purchase when its payment can never come', async () => {
    const world = await leftLying(minute, { confirmation: 'gone', collected: dead })
    expect(now(world)).toMatchObject({ state: 'PAYMENT_FAILED', code: 'authorization_expired' })
    expect([times(world, 'place'), books(world)]).toEqual([0, {}])
  })

  test.each(['final', 'not_yet', 'unknown'] as const)(
    'goes on where the chain says %s: nothing says that it is gone',
    async (confirmation) => {
      const world = await leftLying(minute, { confirmation })
      expect(now(world)).toMatchObject({ state: 'FULFILLED' })
      expect(world.calls.slice(0, 2)).toEqual(['confirmation', 'place'])
      expect(told(world)).toEqual([])
    },
  )

  test.each<[string, Confirmation]>([
    ['that is final', 'final'],
    ['that may still vanish', 'not_yet'],
  ])('until after its deadline buys nothing, and a price %s goes back', async (_, seen) => {
    const world = await leftLying(11 * minute, { confirmation: seen, held: { outcome: 'none' } })
    expect(world.calls).not.toContain('place')
    expect(now(world)).toMatchObject({ state: 'EXPIRED', failure: { trigger: 'expired' } })
    world.script.confirmation = 'final'
    expect(await live(world, 2 * minute)).toMatchObject({ payout: { state: 'CONFIRMED' } })
    expect([times(world, 'place'), told(world), books(world)]).toEqual([0, [], refunded])
  })

  test('is not looked at twice when it was seen just now', async () => {
    const world = await leftLying(5_000, { confirmation: 'gone' })
    expect([now(world).state, times(world, 'confirmation')]).toEqual(['FULFILLED', 0])
  })
})

describe('an order whose supplier is at work', () => {
  test('has its payment watched after a minute, until it is final', async () => {
    const world = await start({ ...pendingSupply, confirmation: 'not_yet' })
    await live(world, 55_000)
    expect(times(world, 'confirmation')).toBe(0)
    await live(world, minute)
    expect(times(world, 'confirmation')).toBeGreaterThan(0)
    world.script.confirmation = 'final'
    expect(await live(world, minute)).toMatchObject({ state: 'FULFILLING', settlement: 'FINAL' })
    const looked = times(world, 'confirmation')
    await live(world, 2 * minute)
    expect(times(world, 'confirmation')).toBe(looked)
    expect(books(world)).toEqual(open)
  })

  test('gets a new receipt when its payment lands in another block', async () => {
    const world = await start({ ...pendingSupply, confirmation: 'gone', collected: elsewhere })
    await live(world, 2 * minute)
    expect(now(world)).toMatchObject({
      state: 'FULFILLING',
      settlement: 'SEEN',
      receipt: { transaction: `0x${'e'.repeat(64)}`, block: 9 },
    })
    expect(told(world)).toContain('payment_vanished')
    expect([times(world, 'place'), books(world)]).toEqual([1, open])
  })

  test('stays as it is while it is not known what became of its payment', async () => {
    const world = await start({ ...pendingSupply, confirmation: 'unknown' })
    const before = world.orders.history.length
    await live(world, 2 * minute)
    expect(world.orders.history).toHaveLength(before)
    world.script.confirmation = 'gone'
    world.script.collected = unsure
    await live(world, 2 * minute)
    expect(world.orders.history).toHaveLength(before)
    expect(times(world, 'collect')).toBeGreaterThan(1)
    expect(books(world)).toEqual(open)
  })

  test('is given up when its payment can never come, and nothing is paid back', async () => {
    const world = await start({ ...pendingSupply, confirmation: 'not_yet' })
    world.script.confirmation = 'gone'
    world.script.collected = dead
    expect(await live(world, 2 * minute)).toMatchObject({
      state: 'FULFILLMENT_FAILED',
      settlement: 'LOST',
      failure: { trigger: 'fulfillment_failed', message: expect.stringContaining('vanished') },
      payout: { state: 'FAILED', code: 'payment_vanished' },
      supply: { state: 'OPEN' },
    })
    expect(told(world)).toEqual([
      'payment_vanished',
      'payment_lost authorization_expired',
      'refund_failed payment_vanished',
    ])
    // Goods that the supplier delivers all the same are returned, or booked as a loss.
    world.script.held = orderWorld().script.held
    const order = await live(world, 2 * minute)
    expect(order).toMatchObject({ supply: { state: 'LOST' } })
    expect([isFinished(order), books(world)]).toEqual([true, {}])
    expect(world.calls).not.toContain('allow')
  })

  test('whose supplier shows nothing of what it took is watched, and booked as lost after 72 h', async () => {
    const world = await start({ ...pendingSupply, confirmation: 'not_yet' })
    world.script.confirmation = 'gone'
    world.script.collected = dead
    world.script.held = { outcome: 'none' }
    await live(world, 65_000)
    expect(now(world)).toMatchObject({ settlement: 'LOST', supply: { state: 'OPEN' } })
    expect(await live(world, 3 * minute)).toMatchObject({ supply: { state: 'OPEN' } })
    world.clock.pass(72 * 60 * minute)
    expect(await live(world, 2 * minute)).toMatchObject({ supply: { state: 'LOST' } })
    expect(told(world)).toContain('goods_lost')
  })
})

describe('a payment that the chain dropped and that is reverted when it is sent again', () => {
  const supplying = () => start({ ...pendingSupply, confirmation: 'not_yet' })
  const giving = () => start({ confirmation: 'not_yet' })
  const owing = () => start({ ...declined, confirmation: 'not_yet' })
  const awaiting = async () => {
    const world = await supplying()
    await live(world, 11 * minute)
    return world
  }

  test.each<[string, () => Promise<World>]>([
    ['whose supplier is at work', supplying],
    ['that was delivered', giving],
    ['that is paid back', owing],
    ['that waits for the supplier', awaiting],
  ])('is sent three times at most, for an order %s', async (_, begun) => {
    const world = await begun()
    world.script.confirmation = 'gone'
    const { state } = now(world)
    const sent = revertedFrom(world)
    expect(await live(world, 8 * minute)).toMatchObject({ state, settlement: 'SEEN', reverts: 3 })
    expect(sent()).toBe(3)
    // Others can still land it, and the store sees that.
    world.script.confirmation = 'final'
    expect(await live(world, 2 * minute)).toMatchObject({ settlement: 'FINAL', reverts: 3 })
  })

  test('counts its last reverts too when it can never come', async () => {
    const world = await supplying()
    world.script.confirmation = 'gone'
    world.script.collected = { outcome: 'failed', code: 'x', reason: 'x', wasted: 2 }
    expect(await live(world, 2 * minute)).toMatchObject({
      state: 'FULFILLMENT_FAILED',
      settlement: 'LOST',
      reverts: 2,
    })
  })

  /** From now on each transaction for the payment is reverted. @returns how many there were */
  function revertedFrom({ deps }: World) {
    let sent = 0
    Object.assign(deps.rails.x402, {
      async collect(_: unknown, how: Collecting = {}): Promise<Collected<X402Receipt>> {
        if (how.onlyLooks) return unsure
        sent += 1
        return { outcome: 'unknown', reason: 'reverted', wasted: 1 }
      },
    })
    return () => sent
  }
})

describe('an order that was delivered', () => {
  test('has its payment watched after a minute, and ends when it is final', async () => {
    const world = await start({ confirmation: 'not_yet' })
    expect(now(world)).toMatchObject({ state: 'FULFILLED', settlement: 'SEEN' })
    await live(world, 55_000)
    expect(times(world, 'confirmation')).toBe(0)
    await live(world, minute)
    expect(times(world, 'confirmation')).toBeGreaterThan(0)
    world.script.confirmation = 'final'
    const order = await live(world, 2 * minute)
    expect(order).toMatchObject({ state: 'FULFILLED', settlement: 'FINAL' })
    const asked = world.calls.length
    await live(world, 10 * minute)
    expect([isFinished(order), world.calls.length]).toEqual([true, asked])
    expect([books(world), told(world)]).toEqual([delivered, []])
  })

  test('gets a new receipt when its payment lands in another block, and is watched on', async () => {
    const world = await start({ confirmation: 'gone' })
    world.script.collected = elsewhere
    const order = await live(world, 70_000)
    expect(order).toMatchObject({ settlement: 'SEEN', receipt: { block: 9 } })
    expect([isFinished(order), told(world)]).toEqual([false, ['payment_vanished']])
    world.script.confirmation = 'final'
    expect(isFinished(await live(world, 2 * minute))).toBe(true)
    expect(books(world)).toEqual(delivered)
  })

  test('is a loss that the operator hears of when its payment can never come', async () => {
    const world = await start({ confirmation: 'gone' })
    world.script.collected = dead
    const order = await live(world, 2 * minute)
    expect(order).toMatchObject({
      state: 'FULFILLED',
      settlement: 'LOST',
      delivery: expect.anything(),
    })
    expect(told(world)).toEqual(['payment_vanished', 'payment_lost authorization_expired'])
    expect([isFinished(order), books(world)]).toEqual([true, {}])
    const asked = world.calls.length
    await live(world, 10 * minute)
    expect(world.calls).toHaveLength(asked)
  })

  test('stays as it is while it is not known what became of its payment', async () => {
    const world = await start({ confirmation: 'unknown' })
    const order = await live(world, 10 * minute)
    expect(order).toMatchObject({ state: 'FULFILLED', settlement: 'SEEN', version: 5 })
    expect([isFinished(order), books(world)]).toEqual([false, delivered])
  })
})

describe('a refund', () => {
  /** An order that was declined, while its payment may still vanish. */
  const due = () => start({ ...declined, confirmation: 'not_yet' })
  const waiting = async () => {
    const world = await start({ ...pendingSupply, confirmation: 'not_yet' })
    await live(world, 11 * minute)
    expect(now(world)).toMatchObject({ state: 'EXPIRED', refundAt: expect.any(Date) })
    return world
  }

  test('that is due waits until the payment is final', async () => {
    const world = await due()
    expect(await live(world, 10 * minute)).toMatchObject({
      settlement: 'SEEN',
      payout: { state: 'DUE' },
    })
    expect(world.calls).not.toContain('allow')
    world.script.confirmation = 'final'
    expect(await live(world, minute)).toMatchObject({
      settlement: 'FINAL',
      payout: { state: 'CONFIRMED' },
    })
    expect([times(world, 'payBack'), books(world)]).toEqual([1, refunded])
  })

  test('that waits for the supplier takes its word while the payment may vanish', async () => {
    const world = await waiting()
    world.script.held = { outcome: 'declined', code: 'NO', reason: 'no' }
    expect(await live(world, minute)).toMatchObject({
      settlement: 'SEEN',
      payout: { state: 'DUE' },
      supply: { state: 'NONE' },
    })
    expect(world.calls).not.toContain('sign')
    world.script.confirmation = 'final'
    await live(world, minute)
    expect(books(world)).toEqual(refunded)
  })

  test('follows a payment that lands in another block', async () => {
    const world = await due()
    world.script.confirmation = 'gone'
    world.script.collected = elsewhere
    await live(world, 30_000)
    expect(now(world)).toMatchObject({ settlement: 'SEEN', receipt: { block: 9 } })
    expect([world.calls.includes('sign'), books(world)]).toEqual([false, open])
    world.script.confirmation = 'final'
    await live(world, minute)
    expect(books(world)).toEqual(refunded)
  })

  test.each([
    ['is due', due],
    ['waits for the supplier', waiting],
  ] as const)('that %s fails when the payment can never come', async (_, begun) => {
    const world = await begun()
    world.script.confirmation = 'gone'
    world.script.collected = dead
    expect(await live(world, minute)).toMatchObject({
      settlement: 'LOST',
      payout: { state: 'FAILED', code: 'payment_vanished' },
    })
    expect(told(world)).toContain('payment_lost authorization_expired')
    expect([world.calls.includes('allow'), books(world)]).toEqual([false, {}])
  })

  test('of a payment that vanished is never paid, however often it is claimed', async () => {
    const world = await due()
    world.script.confirmation = 'gone'
    world.script.collected = dead
    await live(world, minute)
    // The chain is not asked any more, even though it would answer otherwise now.
    world.script.confirmation = 'final'
    world.script.collected = elsewhere
    for (const key of ['one', 'two']) {
      await claimRefund(world.deps, now(world), { key, bodyHash: 'body' })
      expect(now(world)).toMatchObject({ payout: { state: 'DUE' } })
      expect(await live(world, minute)).toMatchObject({
        settlement: 'LOST',
        payout: { state: 'FAILED', code: 'payment_vanished' },
      })
    }
    for (const call of ['allow', 'sign', 'payBack']) expect(world.calls).not.toContain(call)
    expect(books(world)).toEqual({})
  })
})

describe('the payout limits', () => {
  test.each(['stopped', 'hour_cap', 'day_cap'] as const)(
    'holds a refund back while it says %s, unsigned, and lets it go on',
    async (allowed) => {
      const world = await start({ ...declined, allowed })
      expect(await live(world, 5 * minute)).toMatchObject({ payout: { state: 'DUE' } })
      expect(world.calls).not.toContain('sign')
      expect(new Set(told(world))).toEqual(new Set([`refund_held ${allowed}`]))
      // Tried once a minute, because only an operator can change it.
      expect(told(world).length).toBeLessThanOrEqual(6)
      expect(books(world)).toEqual(open)
      world.script.allowed = 'granted'
      expect(await live(world, 2 * minute)).toMatchObject({ payout: { state: 'CONFIRMED' } })
      expect(books(world)).toEqual(refunded)
    },
  )

  test('stops a refund that is signed already, and lets the same one go on', async () => {
    const world = orderWorld(declined)
    const { x402 } = world.deps.rails
    const signRefund: typeof x402.signRefund = (refund) => {
      world.script.allowed = 'stopped'
      return x402.signRefund(refund)
    }
    const deps = { ...world.deps, rails: { ...world.deps.rails, x402: { ...x402, signRefund } } }
    const { order } = await world.orders.open(newOrder(deps), [])
    await advance(deps, order, 0)
    await live(world, 5 * minute)
    const held = now(world)
    expect(held).toMatchObject({ payout: { state: 'APPROVED' } })
    expect([times(world, 'payBack'), told(world)[0]]).toEqual([0, 'refund_held stopped'])
    world.script.allowed = 'granted'
    expect(await live(world, 2 * minute)).toMatchObject({ payout: { state: 'CONFIRMED' } })
    expect([times(world, 'sign'), times(world, 'payBack')]).toEqual([1, 1])
    expect(books(world)).toEqual(refunded)
  })

  test('signs a refund again only when what it signed before can no longer pay', async () => {
    const empty = { outcome: 'blocked', code: 'no_float', reason: 'empty' } as const
    const world = await start({ ...declined, paidBack: { ...empty, mayStillPay: true } })
    const { x402 } = world.deps.rails
    const sent: unknown[] = []
    Object.assign(x402, {
      payBack: async (refund: unknown) => {
        sent.push(refund)
        return world.script.paidBack
      },
    })
    let tries = 0
    const retry = async () => {
      tries += 1
      await claimRefund(world.deps, now(world), { key: `try ${tries}`, bodyHash: 'body' })
      return live(world, minute)
    }
    const first = now(world)
    expect(first).toMatchObject({ payout: { state: 'FAILED', code: 'no_float' } })
    expect(await retry()).toMatchObject({ payout: { state: 'FAILED' } })
    world.script.allowed = 'over_cap'
    expect(await retry()).toMatchObject({ payout: { state: 'FAILED', code: 'over_cap' } })
    world.script.allowed = 'granted'
    await retry()
    // The refund wallet has changed meanwhile, but the payer may hold what the first one signed.
    expect([times(world, 'sign'), new Set(sent).size]).toEqual([1, 1])
    world.script.paidBack = { ...empty, code: 'refund_nonce_spent' }
    await retry()
    await retry()
    expect(times(world, 'sign')).toBe(2)
    world.script.paidBack = { outcome: 'lapsed' }
    await retry()
    expect(times(world, 'sign')).toBeGreaterThan(2)
    world.script.paidBack = { outcome: 'paid', transaction: `0x${'b'.repeat(64)}` }
    expect(await live(world, 2 * minute)).toMatchObject({ payout: { state: 'CONFIRMED' } })
  })

  test('gives a refund above the caps to an operator', async () => {
    const world = await start({ ...declined, allowed: 'over_cap' })
    expect(now(world)).toMatchObject({ payout: { state: 'FAILED', code: 'over_cap' } })
    expect(told(world)).toEqual(['refund_failed over_cap'])
    const asked = world.calls.length
    await live(world, 10 * minute)
    expect([world.calls.length, books(world)]).toEqual([asked, open])
    // Once the caps are wider, the same refund is paid.
    world.script.allowed = 'granted'
    await claimRefund(world.deps, now(world), { key: 'operator', bodyHash: 'body' })
    expect(await live(world, minute)).toMatchObject({ payout: { state: 'CONFIRMED' } })
    expect(books(world)).toEqual(refunded)
  })
})
