import { describe, expect, test } from 'vitest'
import { audit, type Facts, factsAbout, type OrderRow } from './audit.ts'
import {
  cleanFacts,
  delivered,
  goodsOf,
  hashOf,
  late,
  order,
  payment,
  refund,
  refunded,
  seen,
  stranger,
  supplied,
} from './facts.fixture.ts'

const wrongsIn = (facts: Facts) => audit(facts).map(({ wrong, subject }) => [wrong, subject])

/** The clean facts with one order changed. */
function withOrder(id: string, changes: Partial<OrderRow>): Facts {
  const orders = cleanFacts.orders.map((row) => (row.id === id ? { ...row, ...changes } : row))
  return { ...cleanFacts, orders }
}

function withMore(more: Partial<Omit<Facts, 'calmUntil'>>): Facts {
  const names = Object.keys(more) as Exclude<keyof Facts, 'calmUntil'>[]
  const lists = names.map((name) => [name, [...cleanFacts[name], ...(more[name] ?? [])]])
  return { ...cleanFacts, ...Object.fromEntries(lists) }
}

function withoutSupplied(id: string): Facts {
  const left = cleanFacts.supplied.filter(({ transactionId }) => transactionId !== id)
  return { ...cleanFacts, supplied: left }
}

test('a clean run has nothing wrong', () => {
  expect(audit(cleanFacts)).toEqual([])
})

test('a run in which nobody bought anything has shown nothing', () => {
  const none = { orders: [], payments: [], refunds: [], supplied: [], seen: [] }
  expect(wrongsIn({ ...cleanFacts, ...none })).toEqual([['nothing bought', 'store']])
})

describe('lost', () => {
  test('a payment that no order knows', () => {
    expect(wrongsIn(withMore({ payments: [payment('9')] }))).toEqual([['lost', hashOf('9')]])
  })

  test('a payment of an order that reads unpaid', () => {
    const facts = withOrder(refunded, {
      state: 'PAYMENT_FAILED',
      refundState: null,
      transaction: null,
      refundTransaction: null,
    })
    expect(wrongsIn({ ...facts, refunds: [refund(late, '6')] })).toEqual([['lost', hashOf('2')]])
  })

  test('an order that reads delivered and has nothing at the supplier', () => {
    const facts = withoutSupplied(delivered.replace('_', ''))
    expect(wrongsIn({ ...facts, seen: [] })).toEqual([['lost', delivered]])
  })

  test('an order that reads delivered and failed at the supplier', () => {
    const [, ...others] = cleanFacts.supplied
    const failed = supplied(delivered, { status: 'FAILED', deliveries: 0, charged: 0 })
    expect(wrongsIn({ ...cleanFacts, seen: [], supplied: [failed, ...others] })).toEqual([
      ['lost', delivered],
    ])
  })

  test('an order that reads refunded and has no refund on the chain', () => {
    expect(wrongsIn({ ...cleanFacts, refunds: [refund(late, '6')] })).toEqual([['lost', refunded]])
  })
})

describe('delivered and refunded', () => {
  test('an order that reads delivered, with a refund on the chain that only its nonce names', () => {
    expect(wrongsIn(withMore({ refunds: [refund(delivered, '9')] }))).toEqual([
      ['delivered and refunded', delivered],
    ])
  })

  test('a refunded order whose goods its buyer has seen', () => {
    const shown = seen(late, '8', { nonces: [], goods: [goodsOf(late)] })
    expect(wrongsIn(withMore({ seen: [shown] }))).toEqual([['delivered and refunded', late]])
  })
})

describe('charged twice', () => {
  test('two payments of one purchase that landed, though one order has each', () => {
    const again = order(`ord_${'4'.repeat(26)}`, { transaction: hashOf('4') })
    const [first, ...others] = cleanFacts.seen
    const nonces = ['1', '4'].map((digit) => payment(digit).nonce ?? '')
    const facts = {
      ...withMore({
        payments: [payment('4')],
        orders: [again],
        supplied: [supplied(again.id)],
      }),
      seen: [{ ...(first as (typeof cleanFacts.seen)[number]), nonces }, ...others],
    }
    expect(wrongsIn(facts)).toEqual([['charged twice', delivered]])
  })

  test('one authorization that was carried out twice', () => {
    const again = payment('9', { nonce: payment('1').nonce })
    const found = wrongsIn(withMore({ payments: [again] })).map(([wrong]) => wrong)
    expect(found).toEqual(['lost', 'charged twice'])
  })
})

describe('refunded twice', () => {
  test('two refunds of one order', () => {
    const again = refund(refunded, '9')
    expect(wrongsIn(withMore({ refunds: [again] }))).toEqual([['refunded twice', refunded]])
  })

  test('a refund to a payer that belongs to no order', () => {
    const stray = refund('', '9', { nonce: hashOf('0') })
    expect(wrongsIn(withMore({ refunds: [stray] }))).toEqual([['refunded twice', hashOf('9')]])
  })
})

describe('a checkout in a coin that was paid too late', () => {
  const buyer = 'bc1qbuyer'
  const paid = { from: buyer, to: 'bc1qinvoice', nonce: 'bc1qinvoice' }
  const back = { from: 'BTC', to: buyer, nonce: buyer }
  const facts = withMore({
    payments: [payment('8', paid)],
    refunds: [refund('', '9', back)],
    orders: [
      order('chk_1', {
        ...{ state: 'EXPIRED', refundState: 'REFUNDED', payer: buyer },
        ...{ transaction: hashOf('8'), refundTransaction: hashOf('9') },
      }),
    ],
  })
  const changed = (changes: Partial<Facts>) => wrongsIn({ ...facts, ...changes })

  test('is right once everything has gone back', () => {
    expect(audit(facts)).toEqual([])
  })

  test('is found if it went back twice, in part, to somebody else, or not at all', () => {
    const again = refund('', '7', back)
    expect(changed({ refunds: [...facts.refunds, again] })).toEqual([
      ['refunded twice', hashOf('7')],
    ])
    const others = facts.refunds.slice(0, -1)
    for (const changes of [{ value: 400_000n }, { to: stranger }]) {
      const wrong = refund('', '9', { ...back, ...changes })
      expect(changed({ refunds: [...others, wrong] })).toContainEqual(['wrong refund', 'chk_1'])
    }
    expect(changed({ refunds: others })).toEqual([['lost', 'chk_1']])
    expect(changed({ orders: cleanFacts.orders })).toContainEqual(['lost', hashOf('8')])
  })
})

describe('supplier charged twice', () => {
  test.each([
    ['more than the cost', { charged: 90 }],
    ['for two deliveries', { deliveries: 2 }],
  ])('%s', (_, changes) => {
    const [, ...others] = cleanFacts.supplied
    expect(
      wrongsIn({ ...cleanFacts, supplied: [supplied(delivered, changes), ...others] }),
    ).toEqual([['supplier charged twice', delivered]])
  })

  test('two purchases under one reference', () => {
    expect(wrongsIn(withMore({ supplied: [supplied(refunded)] }))).toContainEqual([
      'supplier charged twice',
      refunded,
    ])
  })

  test('a purchase under a reference that belongs to no order', () => {
    expect(wrongsIn(withMore({ supplied: [supplied('ord_stray')] }))).toEqual([
      ['supplier charged twice', 'ordstray'],
    ])
  })

  test('two orders that were delivered for one payment', () => {
    const twin = order(`ord_${'4'.repeat(26)}`, { transaction: hashOf('1') })
    expect(wrongsIn(withMore({ orders: [twin], supplied: [supplied(twin.id)] }))).toEqual([
      ['supplier charged twice', hashOf('1')],
    ])
  })
})

describe('besides', () => {
  test.each([
    ['PAID', null],
    ['FULFILLING', null],
    ['PAYMENT_PENDING', null],
    ['EXPIRED', 'REFUND_PENDING'],
    ['EXPIRED', 'REFUND_FAILED'],
  ])('%s with refund %s is open', (state, refundState) => {
    const facts = withOrder(refunded, { state, refundState, refundTransaction: null })
    expect(wrongsIn({ ...facts, refunds: [refund(late, '6')] })).toEqual([['open', refunded]])
  })

  test('a buyer who was never told how it ended is open', () => {
    const waiting = seen(delivered, '8', { nonces: [], ending: 'not told' })
    expect(wrongsIn(withMore({ seen: [waiting] }))).toEqual([['open', delivered]])
  })

  test.each([
    ['another amount', { value: 499_999n }],
    ['another wallet', { to: stranger }],
  ])('a refund of %s is wrong', (_, changes) => {
    const refunds = [refund(refunded, '5', changes), refund(late, '6')]
    expect(wrongsIn({ ...cleanFacts, refunds })).toContainEqual(['wrong refund', refunded])
  })

  test('a refund to somebody who never bought is wrong', () => {
    const stray = refund('', '9', { nonce: hashOf('0'), to: stranger })
    expect(wrongsIn(withMore({ refunds: [stray] }))).toEqual([['wrong refund', hashOf('9')]])
  })

  test.each([
    ['no payment', null],
    ['a payment of another amount', hashOf('7')],
  ])('goods for %s are found', (_, transaction) => {
    const unpaid = order(`ord_${'4'.repeat(26)}`, { transaction })
    const facts = withMore({
      orders: [unpaid],
      supplied: [supplied(unpaid.id)],
      payments: transaction === null ? [] : [payment('7', { value: 1n })],
    })
    expect(wrongsIn(facts)).toEqual([['goods without payment', unpaid.id]])
  })

  test('a code that the supplier gave out for another order is wrong', () => {
    const swapped = seen(delivered, '8', {
      nonces: [],
      goods: [{ ...goodsOf(late), orderId: delivered }],
    })
    expect(wrongsIn(withMore({ seen: [swapped] }))).toEqual([['wrong goods', delivered]])
  })

  test('an order of somebody else, and a second order for one purchase, are wrong', () => {
    const other = seen(delivered, '8', { payer: stranger, orderIds: [delivered] })
    const two = seen(delivered, '7', { orderIds: [delivered, late] })
    expect(wrongsIn(withMore({ seen: [other, two] }))).toEqual([
      ['wrong goods', delivered],
      ['wrong goods', delivered],
    ])
  })

  test('a payment that landed must not be answered with 402; one that did not may', () => {
    const [first] = payment('2').nonce ? [payment('2').nonce ?? ''] : []
    const refused = [{ nonce: first ?? '', answer: '402 nonce_used' }]
    const again = seen(refunded, '2', { refused })
    const rightly = seen(refunded, '9', {
      orderIds: [],
      refused: [{ nonce: '0x9', answer: '402' }],
    })
    const [one, , three] = cleanFacts.seen
    const others = [one, three].filter((row) => row !== undefined)
    expect(wrongsIn({ ...cleanFacts, seen: [...others, again, rightly] })).toEqual([
      ['asked to pay again', refunded],
    ])
  })

  test('late goods that the store does not know of, a bad answer and a dead node are found', () => {
    expect(wrongsIn(withOrder(late, { supply: 'NONE' }))).toEqual([['loss nobody sees', late]])
    const told = seen(delivered, '8', { nonces: [], unexpected: ['order: 500 internal_error'] })
    expect(wrongsIn(withMore({ seen: [told] }))).toEqual([['bad answer', delivered]])
    expect(wrongsIn(withMore({ endedAlone: ['node-0 ended with code 1'] }))).toEqual([
      ['node ended by itself', 'node'],
    ])
  })

  test('a store that attackers pause', () => {
    expect(wrongsIn(withMore({ pauses: ['node-0 said stop'] }))).toEqual([
      ['paused by an attacker', 'node'],
    ])
    const paused = seen(delivered, '8', { nonces: [], pausedAt: [7] })
    const inCalmUntil = (calmUntil: number) =>
      wrongsIn({ ...withMore({ seen: [paused] }), calmUntil })
    expect([inCalmUntil(7), inCalmUntil(8)]).toEqual([[], [['paused by an attacker', 'b0-8']]])
  })
})

test('a finding can be told with what all four sides know of its order', () => {
  const told = factsAbout(cleanFacts, refunded).join('\n')
  for (const known of [hashOf('2'), hashOf('5'), refunded.replace('_', ''), 'b0-2']) {
    expect(told).toContain(known)
  }
})
