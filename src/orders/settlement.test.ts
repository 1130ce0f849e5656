import { describe, expect, test } from 'vitest'
import type { Collecting } from '../payments/payment.ts'
import {
  dead,
  declined,
  elsewhere,
  goods,
  hour,
  minute,
  newLife,
  type Play,
  play,
  unknown,
  working,
} from './life.fixture.ts'
import { isFinished } from './order.ts'
import { claimRefund } from './refund.ts'

/** Tests of a chain that drops its newest blocks, and with them a payment that was seen there. */

const notYet = { confirmation: 'not_yet' } as const
const final = { confirmation: 'final' } as const
const vanishing = { confirmation: 'gone', collected: dead } as const
const moving = { confirmation: 'gone', collected: elsewhere } as const
const moved = { settlement: 'SEEN', receipt: elsewhere.receipt }
const seen = { state: 'FULFILLED', settlement: 'SEEN' }
const due = { settlement: 'SEEN', payout: { state: 'DUE' } }
const owed = { state: 'EXPIRED', refundAt: expect.any(Date), settlement: 'SEEN' }
const unpaid = { settlement: 'LOST', payout: { state: 'FAILED', code: 'payment_vanished' } }
const goneForGood = ['payment_vanished', 'payment_lost authorization_expired']
const refundGone = [...goneForGood, 'refund_failed payment_vanished']

const left: readonly Play[] = [
  {
    of: 'is paid anew, or not, before the supplier is asked',
    scenes: [
      [{ confirmation: 'gone', collected: unknown }, minute, { state: 'PAYMENT_PENDING' }],
      [{ collected: elsewhere }, 30_000, { state: 'FULFILLED', receipt: elsewhere.receipt }],
    ],
    ends: 'delivered',
    told: ['payment_vanished'],
    calls: ['confirmation', 'collect', 'collect', 'place', 'lookup'],
  },
  {
    of: 'ends without a purchase when its payment can never come',
    scenes: [[vanishing, minute, { state: 'PAYMENT_FAILED', code: 'authorization_expired' }]],
    ends: 'nothing',
    told: ['payment_vanished'],
    calls: ['confirmation', 'collect'],
  },
  ...(['final', 'not_yet', 'unknown'] as const).map(
    (confirmation): Play => ({
      of: `goes on where the chain says ${confirmation}: nothing says that it is gone`,
      scenes: [[{ confirmation }, minute, { state: 'FULFILLED' }]],
      ends: 'delivered',
      calls: ['confirmation', 'place', 'lookup'],
    }),
  ),
  ...[final, notYet].map(
    (confirmed): Play => ({
      of: `buys nothing after its deadline, and is paid back: ${confirmed.confirmation}`,
      scenes: [
        [
          { ...confirmed, held: { outcome: 'none' } },
          11 * minute,
          { state: 'EXPIRED', failure: { trigger: 'expired' } },
        ],
        [final, 2 * minute, { payout: { state: 'CONFIRMED' } }, { place: 0 }],
      ],
      ends: 'refunded',
    }),
  ),
  {
    of: 'is not looked at twice when it was seen just now',
    scenes: [[{ confirmation: 'gone' }, 5_000, { state: 'FULFILLED' }]],
    ends: 'delivered',
    calls: ['place', 'lookup'],
  },
]

test.each(left)('an order left lying since its payment was seen $of', (one) =>
  play({ ...one, isLeft: true }),
)

test('an order whose payment is to come anew says nothing of the payment that vanished', async () => {
  const { beginPaid } = newLife({ confirmation: 'gone', collected: unknown })
  const order = await beginPaid(minute)
  expect(order.state).toBe('PAYMENT_PENDING')
  for (const field of ['receipt', 'settlement', 'paidAt', 'deliverBy']) {
    expect(order).not.toHaveProperty(field)
  }
})

const plays: readonly Play[] = [
  ...(
    [
      ['whose supplier is at work', working, 'open', { state: 'FULFILLING' }, 4, 2],
      ['that was delivered', {}, 'delivered', { state: 'FULFILLED' }, 1, 1],
    ] as const
  ).flatMap(([what, script, ends, is, looks, drops]): Play[] => [
    {
      of: `${what} has its payment watched after a minute, until it is final`,
      scenes: [
        [{ ...script, ...notYet }, 0, { ...is, settlement: 'SEEN' }],
        [{}, 55_000, is, { confirmation: 0 }],
        [{}, minute, { ...is, settlement: 'SEEN' }, { confirmation: looks }],
        [final, 2 * minute, { ...is, settlement: 'FINAL' }, { confirmation: looks + 1 }],
        [{}, 6 * minute, is, { confirmation: looks + 1 }],
      ],
      ends,
    },
    {
      of: `${what} gets a new receipt when its payment lands in another block`,
      scenes: [
        [{ ...script, ...notYet }, 0],
        [moving, 70_000, { ...is, ...moved }],
        [final, 2 * minute, { ...is, settlement: 'FINAL' }],
      ],
      ends,
      told: Array(drops).fill('payment_vanished'),
    },
    {
      of: `${what} stays as it is while it is not known what became of its payment`,
      scenes: [
        [{ ...script, confirmation: 'unknown' }, 0, { ...is, settlement: 'SEEN' }],
        [{}, 2 * minute, { ...is, settlement: 'SEEN' }],
      ],
      ends,
    },
  ]),
  {
    of: 'is given up when its payment can never come, and goods that come are booked as a loss',
    scenes: [
      [{ ...working, ...notYet }, 0],
      [
        vanishing,
        2 * minute,
        {
          ...{ ...unpaid, state: 'FULFILLMENT_FAILED', supply: { state: 'OPEN' } },
          failure: {
            trigger: 'fulfillment_failed',
            message: expect.stringContaining('vanished'),
          },
        },
      ],
      [{ held: goods }, 2 * minute, { ...unpaid, supply: { state: 'LOST' } }, { allow: 0 }],
    ],
    ends: 'nothing',
    told: [...refundGone, 'goods_lost'],
  },
  {
    of: 'whose supplier shows nothing of what it took is watched, and booked as lost after 72 h',
    scenes: [
      [{ ...working, ...notYet }, 0],
      [{ ...vanishing, held: { outcome: 'none' } }, 65_000, { settlement: 'LOST' }],
      [{}, 71 * hour, { supply: { state: 'OPEN' } }],
      [{}, 2 * hour, { supply: { state: 'LOST' } }],
    ],
    ends: 'nothing',
    told: [...refundGone, 'goods_lost'],
  },
  {
    of: 'that was delivered is a loss when its payment can never come',
    scenes: [
      [notYet, 0, seen],
      [vanishing, 2 * minute, { state: 'FULFILLED', settlement: 'LOST' }, { confirmation: 1 }],
      [{}, 10 * minute, {}, { confirmation: 1 }],
    ],
    ends: 'nothing',
    told: goneForGood,
  },
  {
    of: 'whose payment is gone, and may come anew, is moved by neither',
    scenes: [
      [{ ...working, ...notYet }, 0, { version: 4 }],
      [{ confirmation: 'gone', collected: unknown }, 2 * minute, { version: 4 }, { collect: 6 }],
    ],
    ends: 'open',
    told: Array(5).fill('payment_vanished'),
  },
  {
    of: 'whose refund is due is paid back once its payment is final',
    scenes: [
      [{ ...declined, ...notYet }, 0, due],
      [{}, 10 * minute, due, { allow: 0 }],
      [final, minute, { settlement: 'FINAL', payout: { state: 'CONFIRMED' } }, { payBack: 1 }],
    ],
    ends: 'refunded',
  },
  {
    of: 'takes the word of its supplier while its payment may vanish',
    scenes: [
      [{ ...working, ...notYet }, 0],
      [{}, 11 * minute, owed],
      [
        { held: { outcome: 'declined', code: 'NO', reason: 'no' } },
        minute,
        { ...due, supply: { state: 'NONE' } },
        { sign: 0 },
      ],
      [final, minute, { payout: { state: 'CONFIRMED' } }],
    ],
    ends: 'refunded',
  },
  {
    of: 'whose refund is due follows a payment that lands in another block',
    scenes: [
      [{ ...declined, ...notYet }, 0],
      [moving, 30_000, moved, { sign: 0 }],
      [final, minute, { payout: { state: 'CONFIRMED' } }],
    ],
    ends: 'refunded',
    told: Array(6).fill('payment_vanished'),
  },
  ...[
    ['whose refund is due', declined, 0, due] as const,
    ['that waits for the supplier', working, 11 * minute, owed] as const,
  ].map(
    ([what, script, ms, is]): Play => ({
      of: `${what} owes nothing when its payment can never come`,
      scenes: [
        [{ ...script, ...notYet }, 0],
        [{}, ms, is],
        [vanishing, minute, unpaid, { allow: 0 }],
      ],
      ends: 'nothing',
      told: refundGone,
    }),
  ),
  ...(['stopped', 'hour_cap', 'day_cap'] as const).map(
    (allowed): Play => ({
      of: `is not paid back while the payout limits say ${allowed}, and goes on once they do not`,
      scenes: [
        [{ ...declined, allowed }, 0, { payout: { state: 'DUE' } }],
        // Tried once a minute, because only an operator can change it.
        [{}, 5 * minute, { payout: { state: 'DUE' } }, { allow: 6, sign: 0 }],
        [{ allowed: 'granted' }, 2 * minute, { payout: { state: 'CONFIRMED' } }],
      ],
      ends: 'refunded',
      told: Array(6).fill(`refund_held ${allowed}`),
    }),
  ),
]

test.each(plays)('an order $of', play)

describe('a payment that the chain dropped and that is reverted when it is sent again', () => {
  test.each([
    ['whose supplier is at work', working, 0],
    ['that was delivered', {}, 0],
    ['that is paid back', declined, 0],
    ['that waits for the supplier', working, 11 * minute],
  ])('is sent three times at most, for an order %s', async (_, script, ms) => {
    const { begin, deps, live, now } = newLife({ ...script, ...notYet })
    await begin()
    const { state } = await live(ms)
    let sent = 0
    const collect = async (_payment: unknown, { onlyLooks }: Collecting = {}) => {
      if (onlyLooks) return unknown
      sent += 1
      return { ...unknown, wasted: 1 }
    }
    Object.assign(deps.methods.x402, { collect })
    await live(8 * minute, { confirmation: 'gone' })
    expect(now()).toMatchObject({ state, settlement: 'SEEN', reverts: 3 })
    expect(sent).toBe(3)
    // Others can still land it, and the store sees that.
    expect(await live(2 * minute, final)).toMatchObject({ settlement: 'FINAL', reverts: 3 })
  })

  test('counts its last reverts too when it can never come', async () => {
    const { begin, live } = newLife({ ...working, ...notYet })
    await begin()
    const collected = { ...dead, wasted: 2 }
    expect(await live(2 * minute, { confirmation: 'gone', collected })).toMatchObject({
      ...{ state: 'FULFILLMENT_FAILED', settlement: 'LOST', reverts: 2 },
    })
  })
})

test.each([
  ['final', final, true],
  ['lost', vanishing, true],
  ['seen in another block', moving, false],
  ['unknown', { confirmation: 'unknown' }, false],
] as const)('a delivered order whose payment is %s is finished, or not', async (...row) => {
  const [, script, isOver] = row
  const { begin, live } = newLife(notYet)
  await begin()
  expect(isFinished(await live(2 * minute, script))).toBe(isOver)
})

/** Claims the refund of this order, and lets a minute pass. */
async function claimed({ deps, live, now }: ReturnType<typeof newLife>, key: string) {
  await claimRefund(deps, now(), { key, bodyHash: 'body' })
  return live(minute)
}

test('a refund of a payment that vanished is never paid, however often it is claimed', async () => {
  const life = newLife({ ...declined, ...notYet })
  await life.begin()
  await life.live(minute, vanishing)
  // The chain is not asked any more, even though it would answer otherwise now.
  Object.assign(life.script, { ...final, collected: elsewhere })
  for (const key of ['one', 'two']) {
    expect(await claimed(life, key)).toMatchObject(unpaid)
    expect(life.orders.history.at(-2)).toMatchObject({ payout: { state: 'DUE' } })
  }
  for (const call of ['allow', 'sign', 'payBack']) expect(life.calls).not.toContain(call)
  expect(life.books()).toEqual({})
})

describe('the payout limits', () => {
  test('stop a refund that is signed already, and let the same one go on', async () => {
    const { begin, deps, live, script, times, told } = newLife(declined)
    const { x402 } = deps.methods
    const { signRefund } = x402
    Object.assign(x402, {
      signRefund: (...refund: Parameters<typeof signRefund>) => {
        script.allowed = 'stopped'
        return signRefund(...refund)
      },
    })
    await begin()
    expect(await live(5 * minute)).toMatchObject({ payout: { state: 'APPROVED' } })
    expect([times('payBack'), told()[0]]).toEqual([0, 'refund_held stopped'])
    const paid = { payout: { state: 'CONFIRMED' } }
    expect(await live(2 * minute, { allowed: 'granted' })).toMatchObject(paid)
    expect([times('sign'), times('payBack')]).toEqual([1, 1])
  })

  test('sign a refund again only when what it signed before can no longer pay', async () => {
    const empty = { outcome: 'blocked', code: 'no_float', reason: 'empty' } as const
    const life = newLife({ ...declined, paidBack: { ...empty, mayStillPay: true } })
    const { now, script, times } = life
    const sent = new Set<unknown>()
    Object.assign(life.deps.methods.x402, {
      payBack: async (refund: unknown) => {
        sent.add(refund)
        return script.paidBack
      },
    })
    await life.begin()
    let tries = 0
    const retry = (says: Partial<typeof script> = {}) => {
      tries += 1
      Object.assign(script, says)
      return claimed(life, `try ${tries}`)
    }
    expect(now()).toMatchObject({ payout: { state: 'FAILED', code: 'no_float' } })
    expect(await retry()).toMatchObject({ payout: { state: 'FAILED' } })
    const over = { payout: { state: 'FAILED', code: 'over_cap' } }
    expect(await retry({ allowed: 'over_cap' })).toMatchObject(over)
    await retry({ allowed: 'granted' })
    // The refund wallet has changed meanwhile, but the payer may hold what the first one signed.
    expect([times('sign'), sent.size]).toEqual([1, 1])
    await retry({ paidBack: { ...empty, code: 'refund_nonce_spent' } })
    await retry()
    expect(times('sign')).toBe(2)
    await retry({ paidBack: { outcome: 'lapsed' } })
    expect(times('sign')).toBeGreaterThan(2)
    const paid = await life.live(2 * minute, { paidBack: { outcome: 'paid', transaction: '0xb' } })
    expect(paid).toMatchObject({ payout: { state: 'CONFIRMED' } })
  })

  test('give a refund above the caps to an operator, and pay it once they are wider', async () => {
    const life = newLife({ ...declined, allowed: 'over_cap' })
    await life.begin()
    expect(life.now()).toMatchObject({ payout: { state: 'FAILED', code: 'over_cap' } })
    const asked = life.calls.length
    await life.live(10 * minute)
    expect([life.told(), life.calls.length]).toEqual([['refund_failed over_cap'], asked])
    life.script.allowed = 'granted'
    expect(await claimed(life, 'operator')).toMatchObject({ payout: { state: 'CONFIRMED' } })
  })
})
