import { expect, test } from 'vitest'
import { newOrder } from '../../test/doubles/orders.ts'
import { sweep } from '../../test/model/sweep.ts'
import type { Supplier } from '../suppliers/supplier.ts'
import { advance } from './advance.ts'
import {
  dead,
  declined,
  goods,
  hour,
  minute,
  newLife,
  type Play,
  play,
  settled,
  unknown,
  working,
} from './life.fixture.ts'
import type { In, Order } from './order.ts'

/** As long as the first request of a buyer waits. */
const wait = 20_000
const accepted = { state: 'FULFILLING', acceptedAt: expect.any(Date) }
const untaken = { placed: unknown, held: { outcome: 'none' } } as const
const expired = { state: 'EXPIRED', refundAt: expect.any(Date), supply: { state: 'OPEN' } }
const watched = { payout: { state: 'CONFIRMED' }, supply: { state: 'OPEN' } }
const lost = { payout: { state: 'CONFIRMED' }, supply: { state: 'LOST' } }
const mailed = { kind: 'voucher', instructions: 'Sent by e-mail.' } as const

const plays: readonly Play[] = [
  {
    of: 'a payment whose answer was lost is found later, and nothing is bought before',
    scenes: [
      [{ collected: unknown }, wait, { state: 'PAYMENT_PENDING' }, { place: 0 }],
      [{ collected: settled }, minute, { state: 'FULFILLED' }, { place: 1 }],
    ],
    ends: 'delivered',
  },
  {
    of: 'an order ends whose payment is proven never to come',
    scenes: [
      [{ collected: dead }, wait, { state: 'PAYMENT_FAILED', code: 'authorization_expired' }],
    ],
    ends: 'nothing',
    calls: ['collect'],
  },
  {
    of: 'what the supplier declines is paid back at once',
    scenes: [
      [
        { placed: { outcome: 'declined', code: 'OUT_OF_STOCK', reason: 'none left' } },
        wait,
        {
          state: 'FULFILLMENT_FAILED',
          failure: { trigger: 'fulfillment_failed', code: 'OUT_OF_STOCK' },
          payout: { state: 'CONFIRMED' },
        },
      ],
    ],
    ends: 'refunded',
    calls: ['collect', 'place', 'confirmation', 'allow', 'sign', 'allow', 'payBack'],
  },
  {
    of: 'the signed refund is on record before it is sent',
    scenes: [
      [
        { ...declined, paidBack: { outcome: 'pending', reason: 'sent' } },
        0,
        { payout: { state: 'APPROVED', signed: { method: 'x402' } } },
      ],
    ],
    ends: 'open',
  },
  {
    of: 'what was accepted is delivered although the answer was lost',
    scenes: [[{ placed: unknown }, wait, { state: 'FULFILLED' }, { place: 1 }]],
    ends: 'delivered',
  },
  {
    of: 'that the supplier took a purchase is on record before it looks for the goods',
    scenes: [[{ held: unknown }, 0, accepted]],
    ends: 'open',
    calls: ['collect', 'place', 'lookup'],
  },
  ...[{ held: { outcome: 'none' } } as const, { placed: unknown, ...working }].map(
    (shown): Play => ({
      of: `no absence is a no after the purchase was shown: ${JSON.stringify(shown)}`,
      scenes: [
        [shown, 2_000],
        [{ held: { outcome: 'none' } }, 500_000, accepted],
        [{}, 200_000, expired],
        [{}, 6 * hour, watched, { place: 1 }],
      ],
      ends: 'refunded',
    }),
  ),
  {
    of: 'the refusal of a repeat is no final no',
    scenes: [
      [untaken, 0],
      [
        { placed: { outcome: 'declined', code: 'INVALID_REQUEST', reason: 'used before' } },
        minute,
        { state: 'FULFILLING' },
        { place: 8 },
      ],
      [{ held: goods }, 30_000, { state: 'FULFILLED' }],
    ],
    ends: 'delivered',
  },
  {
    of: 'a purchase that the supplier never took and does not show is paid back, and watched 72 h',
    scenes: [
      [untaken, 0],
      [{}, 3 * minute, { ...watched, failure: { trigger: 'upstream_timeout' } }],
      [{}, 71 * hour, watched],
      [{}, 3 * hour, { payout: { state: 'CONFIRMED' }, supply: { state: 'NONE' } }],
    ],
    ends: 'refunded',
  },
  {
    of: 'what was never taken is paid back at the deadline, and goods that come days later are lost',
    scenes: [
      [{ placed: unknown, held: unknown }, 0],
      [{}, 630_000],
      [{ held: { outcome: 'none' } }, 2 * minute, { state: 'EXPIRED', ...watched }],
      [{}, 69 * hour, watched],
      [{ held: goods }, 2 * hour, lost],
    ],
    ends: 'refunded',
    told: ['goods_lost'],
  },
  {
    of: 'what a purchase that is done shows is delivered at the deadline',
    scenes: [
      [{ held: { outcome: 'done', delivery: mailed } }, wait, accepted],
      [{}, 500_000, { state: 'FULFILLING' }],
      [{}, 2 * minute, { state: 'FULFILLED' }, { sign: 0 }],
    ],
    ends: 'delivered',
  },
  {
    of: 'all of the goods are delivered where they are written into the record later',
    scenes: [
      [{ held: { outcome: 'done' } }, wait, { state: 'FULFILLING' }],
      [{ held: goods }, 30_000, { state: 'FULFILLED' }],
    ],
    ends: 'delivered',
  },
  {
    of: 'an eSIM counts as returned when that is done, not when it is accepted',
    scenes: [
      [{ ...working, cancelled: { outcome: 'pending' } }, wait],
      [{}, 11 * minute],
      [{ held: goods }, 2 * minute, watched],
      [{ cancelled: { outcome: 'refused', reason: 'it failed' } }, 2 * minute, lost],
    ],
    ends: 'refunded',
    told: ['goods_lost'],
  },
  {
    of: 'an expired order is paid back at the supplier’s final no, and not before',
    scenes: [
      [working, wait],
      [{}, 11 * minute, expired, { sign: 0 }],
      [
        { held: { outcome: 'declined', code: 'FAILED', reason: 'no' } },
        minute,
        { state: 'EXPIRED', payout: { state: 'CONFIRMED' }, supply: { state: 'NONE' } },
      ],
    ],
    ends: 'refunded',
  },
  {
    of: 'an expired order is paid back when the grace ends, and goods that still come are lost',
    scenes: [
      [working, wait],
      [{}, 11 * minute],
      [{}, 6 * hour - 3 * minute, expired, { sign: 0 }],
      [{}, 3 * minute, watched],
      [{ held: goods }, 2 * minute, lost],
    ],
    ends: 'refunded',
    told: ['goods_lost'],
  },
  {
    of: 'goods that come after the deadline are kept from the buyer, who is paid back',
    scenes: [
      [{ ...working, cancelled: { outcome: 'cancelled' } }, wait],
      [{}, 11 * minute],
      [
        { held: goods },
        minute,
        { state: 'EXPIRED', payout: { state: 'CONFIRMED' }, supply: { state: 'RETURNED' } },
      ],
    ],
    ends: 'refunded',
    told: ['goods_returned'],
  },
  {
    of: 'a refund that cannot be paid is left to an operator',
    scenes: [
      [
        { ...declined, paidBack: { outcome: 'blocked', code: 'payer_blacklisted', reason: 'no' } },
        0,
        { payout: { state: 'FAILED', code: 'payer_blacklisted' } },
      ],
      [{}, hour, { payout: { state: 'FAILED' } }],
    ],
    ends: 'open',
    calls: ['collect', 'place', 'confirmation', 'allow', 'sign', 'allow', 'payBack'],
    told: ['refund_failed payer_blacklisted'],
  },
  {
    of: 'a refund whose signature ran out is signed again',
    scenes: [
      [{ ...declined, paidBack: { outcome: 'lapsed' } }, 0],
      [
        { paidBack: { outcome: 'paid', transaction: '0x2' } },
        minute,
        { payout: { state: 'CONFIRMED' } },
        { sign: 10 },
      ],
    ],
    ends: 'refunded',
  },
]

test.each(plays)('$of', play)

test('the money is taken, then goods are bought and delivered, each once, and kept sealed', async () => {
  const { begin, calls, orders } = newLife()
  expect(await begin(wait)).toMatchObject({ state: 'FULFILLED' })
  expect(calls).toEqual(['collect', 'place', 'lookup'])
  const states = ['PAYMENT_PENDING', 'PAID', 'FULFILLING', 'FULFILLING', 'FULFILLED']
  expect(orders.history.map(({ state }) => state)).toEqual(states)
  const record = JSON.stringify(orders.history, (_, value) =>
    typeof value === 'bigint' ? String(value) : value,
  )
  for (const secret of ['SECRET-CODE-1234', 'Lovelace']) expect(record).not.toContain(secret)
})

test('the supplier says what it holds before it gets the same purchase again', async () => {
  const { begin, calls, live, times } = newLife(untaken)
  await begin(2_000)
  expect(calls.slice(0, 4)).toEqual(['collect', 'place', 'lookup', 'place'])
  await live(3 * minute)
  const looks = times('lookup')
  await live(74 * hour)
  expect(times('lookup') - looks).toBeLessThan(120)
})

test('that the supplier took a purchase is kept although somebody else has moved the order', async () => {
  const { begin, deps, orders, supplier } = newLife({ held: unknown })
  const place: Supplier['place'] = async () => {
    const order = orders.history.at(-1) as In<'FULFILLING'>
    expect((await orders.move(order, { ...order, askedAgainAt: deps.now() })).won).toBe(true)
    return { outcome: 'held' }
  }
  Object.assign(supplier, { place })
  expect((await begin()).state).toBe('FULFILLING')
  const both = { acceptedAt: expect.any(Date), askedAgainAt: expect.any(Date) }
  expect(orders.history.at(-1)).toMatchObject(both)
})

test.each([
  ['for a short while only after it was put on record', 600_000, 15_000],
  ['until its deadline only', 10_000, 10_000],
])('a request may leave %s', async (_, deliverWithinMs, expected) => {
  const { begin, deps, clock, supplier } = newLife()
  let leftMs = 0
  const place: Supplier['place'] = async ({ notAfter }) => {
    leftMs = notAfter.getTime() - clock.now().getTime()
    return { outcome: 'held' }
  }
  Object.assign(supplier, { place })
  Object.assign(deps, { policy: { ...deps.policy, deliverWithinMs } })
  await begin()
  expect(leftMs).toBe(expected)
})

test.each([
  [45, []],
  [46, ['charge_rose']],
])('what the supplier charged is booked, and more than its list said told: %i', async (...row) => {
  const [amount, told] = row
  const charge = { amount, currency: 'USD', divisor: 100 }
  const delivery = { kind: 'voucher', code: 'X' } as const
  const life = newLife({ held: { outcome: 'delivered', delivery, charge } })
  const fresh = newOrder(life.deps)
  const item = { ...fresh.item, charge: { ...charge, amount: 45 } }
  expect(await life.begin(0, { ...fresh, item })).toMatchObject({ state: 'FULFILLED', charge })
  expect(life.told()).toEqual(told)
})

test('what came while no node was up is delivered, though its deadline has passed', async () => {
  const { begin, clock, deps, now, script } = newLife(working)
  await begin()
  clock.pass(hour)
  script.held = goods
  await sweep(deps, 10)
  expect(now()).toMatchObject({ state: 'FULFILLED' })
})

test('an order that somebody else moved meanwhile is left to them', async () => {
  const { begin, calls, deps, orders } = newLife()
  await begin()
  const [stale] = orders.history as [Order]
  const before = calls.length
  expect(await advance(deps, stale, wait)).toMatchObject({ state: 'FULFILLED' })
  expect(calls.slice(before)).toEqual(['collect'])
})

test('an acceptance is put on record before anything else, once the database takes writes again', async () => {
  const { begin, deps, live, orders, reports, times } = newLife({ held: { outcome: 'none' } })
  let refusals = 3
  const { move } = orders
  const refusing = async <T extends Order>(from: Order, to: T) => {
    const isLesson = to.state === 'FULFILLING' && to.acceptedAt !== undefined
    if (!isLesson || refusals === 0) return move(from, to)
    refusals -= 1
    throw new Error('move: no answer in time')
  }
  Object.assign(deps, { orders: { ...orders, move: refusing } })
  await begin()
  expect(reports).toMatchObject([
    { name: 'step_failed', error: { message: expect.stringContaining('no answer') } },
  ])
  expect(await live(5 * minute)).toMatchObject(accepted)
  expect(orders.history[3]).toMatchObject(accepted)
  expect([refusals, deps.accepted.size, times('place')]).toEqual([0, 0, 1])
})
