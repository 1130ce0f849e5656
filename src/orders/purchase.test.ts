import { describe, expect, test } from 'vitest'
import { fixed, voucher } from '../../test/fixtures/offers.ts'
import { fixturePayer, paymentFor } from '../payments/payments.fixture.ts'
import type { PaymentPayload } from '../payments/x402.ts'
import { Refusal } from '../primitives/refusal.ts'
import { hashOf } from '../secrets/tokens.ts'
import {
  ada,
  card,
  expectDemand,
  expectOrder,
  openCard,
  plan,
  purchaseWorld,
} from './purchase.fixture.ts'

const key = 'key-of-16-letters'
const withKey = { viewer: { keys: [key] } }
const collects = (calls: readonly string[]) => calls.filter((call) => call === 'collect').length
const failed = {
  outcome: 'failed',
  code: 'insufficient_funds',
  reason: 'the wallet is empty',
} as const
const pending = { outcome: 'pending' } as const

async function refusalOf(act: Promise<unknown>): Promise<Refusal> {
  const error = await act.then(
    () => new Error('nothing was refused'),
    (error: unknown) => error,
  )
  if (error instanceof Refusal) return error
  throw error
}

describe('without a payment', () => {
  test('the price is named, nothing is stored and nobody is asked', async () => {
    const { ask, calls, orders } = purchaseWorld()
    const { terms, offer, fault } = expectDemand(await ask())
    expect(terms).toMatchObject({ amount: '20000000', maxTimeoutSeconds: 300 })
    expect(offer.id).toBe('CARD')
    expect(fault).toBeUndefined()
    expect([calls, orders.history]).toEqual([[], []])
  })

  test('an open value is priced as it was chosen', async () => {
    const { ask } = purchaseWorld()
    const fields = { ...ada, offerId: 'OPEN', value: 12.5 }
    expect(expectDemand(await ask({ fields })).terms.amount).toBe('12500000')
  })

  test('a known key finds nothing, so that nobody can fish for orders', async () => {
    const { ask, buy } = purchaseWorld()
    await buy(withKey)
    expect((await ask(withKey)).type).toBe('payment_required')
  })
})

describe('a good payment', () => {
  test('is checked, then put on record, then collected, and then the goods are bought', async () => {
    const { buy, calls, orders } = purchaseWorld()
    const { order, accessToken, replayed, reveal } = expectOrder(await buy())
    expect(order.state).toBe('FULFILLED')
    expect(calls).toEqual(['check', 'collect', 'place', 'lookup'])
    expect(orders.history[0]).toMatchObject({ state: 'PAYMENT_PENDING', amount: 20_000_000n })
    expect([replayed, reveal]).toEqual([false, true])
    expect(order.accessTokenHash).toBe(hashOf(accessToken ?? ''))
  })

  test('keeps who receives it and what was asked for to the store', async () => {
    const { buy, orders } = purchaseWorld()
    const { accessToken = 'none' } = expectOrder(await buy(withKey))
    const record = JSON.stringify(orders.history, (_, value) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    for (const secret of ['Lovelace', accessToken, key]) expect(record).not.toContain(secret)
  })

  test('orders an open value in the supplier’s minor units', async () => {
    const { buy, stock } = purchaseWorld()
    stock({
      ...openCard,
      price: { ...openCard.price, divisor: 10, min: 50, max: 900, increment: 5 } as never,
    })
    const { order } = expectOrder(await buy({ fields: { ...ada, offerId: 'OPEN', value: 12.5 } }))
    expect(order.item).toMatchObject({ offerId: 'OPEN', value: 125 })
  })

  test('is answered when the patience ends, with an order that goes on', async () => {
    const { buy, clock } = purchaseWorld({ held: pending })
    const start = clock.now().getTime()
    const { order } = expectOrder(await buy({ patienceMs: 3_000 }))
    expect(order.state).toBe('FULFILLING')
    expect(clock.now().getTime() - start).toBe(3_000)
  })

  test('never waits longer than the store does', async () => {
    const { buy, clock } = purchaseWorld({ held: pending })
    const start = clock.now().getTime()
    await buy({ patienceMs: 600_000 })
    expect(clock.now().getTime() - start).toBe(20_000)
  })
})

describe('the same payment again', () => {
  test('with its key gives the same order and its goods, and settles nothing', async () => {
    const { ask, pay, calls, orders } = purchaseWorld()
    const payment = await pay()
    const first = expectOrder(await ask({ ...withKey, payment }))
    const before = [...calls]
    const again = expectOrder(await ask({ ...withKey, payment }))
    expect(again).toMatchObject({ order: first.order, replayed: true, reveal: true })
    expect(again).not.toHaveProperty('accessToken')
    expect(calls).toEqual(before)
    expect(new Set(orders.history.map(({ id }) => id)).size).toBe(1)
  })

  test('without a key gives the state and not the goods: anyone can read it off the chain', async () => {
    const { ask, pay } = purchaseWorld()
    const payment = await pay()
    await ask({ ...withKey, payment })
    for (const viewer of [{}, { keys: ['another-key-of-20'] }, { accessToken: 'kat_x' }]) {
      expect(expectOrder(await ask({ viewer, payment }))).toMatchObject({
        order: { state: 'FULFILLED' },
        reveal: false,
      })
    }
  })

  test('gives the goods for the access token, or to the wallet that signed in', async () => {
    const { ask, pay } = purchaseWorld()
    const payment = await pay()
    const { accessToken } = expectOrder(await ask({ payment }))
    for (const viewer of [{ accessToken }, { wallet: fixturePayer.toUpperCase() }]) {
      expect(expectOrder(await ask({ viewer, payment })).reveal).toBe(true)
    }
  })

  test('does not make a stranger wait, nor let one hold a connection', async () => {
    const { ask, pay, clock } = purchaseWorld({ held: pending })
    const payment = await pay()
    await ask({ payment, patienceMs: 0 })
    const start = clock.now().getTime()
    expect(expectOrder(await ask({ payment })).order.state).toBe('FULFILLING')
    expect(clock.now().getTime()).toBe(start)
  })

  test('with its key waits for the goods like the first request', async () => {
    const { ask, pay, clock } = purchaseWorld({ held: pending })
    const payment = await pay()
    await ask({ ...withKey, payment, patienceMs: 0 })
    const start = clock.now().getTime()
    await ask({ ...withKey, payment, patienceMs: 4_000 })
    expect(clock.now().getTime() - start).toBe(4_000)
  })

  test('is found whatever the letter case', async () => {
    const { ask, pay, calls } = purchaseWorld()
    const payment = await pay()
    await ask({ payment })
    const { authorization } = payment.payload
    const from = `0x${authorization.from.slice(2).toUpperCase()}`
    const shouted = {
      ...payment,
      payload: { ...payment.payload, authorization: { ...authorization, from } },
    }
    expect(expectOrder(await ask({ payment: shouted })).replayed).toBe(true)
    expect(collects(calls)).toBe(1)
  })

  test('still shows its order while the store is paused or the offer is gone', async () => {
    const { ask, pay, says, stock } = purchaseWorld()
    const payment = await pay()
    await ask({ payment })
    says.action = 'stop'
    stock()
    expect(expectOrder(await ask({ payment })).order.state).toBe('FULFILLED')
  })

  test.each([
    ['another field', { ...ada, firstName: 'Eve' }],
    ['another offer', { ...ada, offerId: 'OPEN', value: 20 }],
    ['a field more', { ...ada, email: 'ada@example.com' }],
  ])('for %s is refused, and named as used', async (_, fields) => {
    const { ask, pay, calls } = purchaseWorld()
    const payment = await pay()
    const { order } = expectOrder(await ask({ ...withKey, payment }))
    const before = [...calls]
    expect(await refusalOf(ask({ ...withKey, payment, fields }))).toMatchObject({
      code: 'payment_reused',
      details: { charged: 'yes', extra: { orderId: order.id } },
    })
    expect(calls).toEqual(before)
  })

  test('says that it is unknown whether it was charged while that is so', async () => {
    const { ask, pay } = purchaseWorld({ collected: { outcome: 'unknown', reason: 'timeout' } })
    const payment = await pay()
    await ask({ payment, patienceMs: 0 })
    const fields = { ...ada, firstName: 'Eve' }
    const { details } = await refusalOf(ask({ payment, fields }))
    expect(details.charged).toBe('unknown')
  })
})

describe('another payment with the same key', () => {
  test('gives the first order, and is not taken', async () => {
    const { buy, calls } = purchaseWorld()
    const first = expectOrder(await buy(withKey))
    const before = [...calls]
    const second = expectOrder(await buy(withKey))
    expect(second).toMatchObject({ order: { id: first.order.id }, replayed: true, reveal: true })
    expect(calls).toEqual(before)
  })

  test('for another request is a conflict, and is not taken', async () => {
    const { buy, calls } = purchaseWorld()
    await buy(withKey)
    const fields = { ...ada, firstName: 'Eve' }
    expect(await refusalOf(buy({ ...withKey, fields }))).toMatchObject({
      code: 'idempotency_conflict',
      details: { charged: 'no' },
    })
    expect(collects(calls)).toBe(1)
  })

  test('is another purchase when another wallet pays', async () => {
    const { ask, buy, pay, calls } = purchaseWorld()
    const first = expectOrder(await buy(withKey))
    const payment = await pay()
    const { authorization } = payment.payload
    const from = `0x${'9'.repeat(40)}`
    const other = {
      ...payment,
      payload: { ...payment.payload, authorization: { ...authorization, from } },
    }
    const second = expectOrder(await ask({ ...withKey, payment: other }))
    expect(second.order.id).not.toBe(first.order.id)
    expect(collects(calls)).toBe(2)
  })
})

describe('two equal requests at once', () => {
  test.each([
    ['with a key', withKey, true],
    ['without one', {}, false],
  ])('%s charge once and answer with one order', async (_, request, revealed) => {
    const { ask, pay, calls, orders } = purchaseWorld()
    const payment = await pay()
    const answers = await Promise.all([ask({ ...request, payment }), ask({ ...request, payment })])
    const [first, second] = answers.map(expectOrder).toSorted((one) => (one.replayed ? 1 : -1))
    expect(first).toMatchObject({ replayed: false, reveal: true, order: { state: 'FULFILLED' } })
    expect(second).toMatchObject({ replayed: true, reveal: revealed })
    expect(second).not.toHaveProperty('accessToken')
    expect(collects(calls)).toBe(1)
    expect(new Set(orders.history.map(({ id }) => id)).size).toBe(1)
  })

  test('with one key and two payments charge once', async () => {
    const { ask, pay, calls } = purchaseWorld()
    const payments = [await pay(), await pay()]
    const answers = await Promise.all(payments.map((payment) => ask({ ...withKey, payment })))
    expect(new Set(answers.map((answer) => expectOrder(answer).order.id)).size).toBe(1)
    expect(collects(calls)).toBe(1)
  })
})

describe('nothing is stored and nothing taken', () => {
  async function expectUntouched(
    world: ReturnType<typeof purchaseWorld>,
    act: Promise<unknown>,
  ): Promise<Refusal> {
    const refusal = await refusalOf(act)
    expect(world.orders.history).toEqual([])
    expect(world.calls.filter((call) => call !== 'check' && call !== 'knowsIccid')).toEqual([])
    return refusal
  }

  test('while the payment cannot be checked', async () => {
    const world = purchaseWorld()
    world.says.check = () => ({ outcome: 'unknown', reason: 'the node is silent' })
    const refusal = await expectUntouched(world, world.buy())
    expect(refusal).toMatchObject({
      code: 'try_again',
      details: { charged: 'no', retryAfterSeconds: expect.any(Number) },
    })
    expect(refusal.message).not.toContain('the node is silent')
  })

  test('while the signals say stop, with and without a payment', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    world.says.action = 'stop'
    for (const sent of [payment, undefined]) {
      expect(await expectUntouched(world, world.ask({ payment: sent }))).toMatchObject({
        code: 'store_paused',
        details: { charged: 'no', extra: { agent_action: 'stop' } },
      })
    }
    expect(world.calls).toEqual([])
  })

  test('when the body is wrong, however good the payment', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    const fields = { ...ada, firstName: '' }
    expect((await expectUntouched(world, world.ask({ payment, fields }))).code).toBe('invalid_body')
  })

  test('when the offer was taken off the shelf', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    world.stock(openCard)
    expect((await expectUntouched(world, world.ask({ payment }))).code).toBe('offer_not_found')
  })

  test('when the check says no; the answer asks again and says why', async () => {
    const { buy, says, orders, calls } = purchaseWorld()
    says.check = () => ({ outcome: 'bad', code: 'invalid_signature', reason: 'it is not theirs' })
    const { fault, terms } = expectDemand(await buy())
    expect(fault).toEqual({ code: 'invalid_signature', reason: 'it is not theirs' })
    expect(terms.amount).toBe('20000000')
    expect([orders.history, calls]).toEqual([[], ['check']])
  })

  test('when the payment is for other terms; the chain is not even asked', async () => {
    const { ask, pay, orders, calls } = purchaseWorld()
    const payment = await pay()
    const accepted = { ...payment.accepted, amount: '1' }
    const { fault } = expectDemand(await ask({ payment: { ...payment, accepted } }))
    expect(fault?.code).toBe('payment_mismatch')
    expect([orders.history, calls]).toEqual([[], []])
  })
})

describe('a promised price', () => {
  const dearer = voucher('CARD', { price: fixed(3_000) })

  test('is honoured although the price rose meanwhile', async () => {
    const { ask, pay, stock } = purchaseWorld()
    const payment = await pay()
    stock(dearer)
    expect(expectOrder(await ask({ payment })).order).toMatchObject({
      state: 'FULFILLED',
      amount: 20_000_000n,
    })
  })

  test('is honoured to the second, and not after it', async () => {
    for (const [seconds, type] of [
      [270, 'order'],
      [301, 'payment_required'],
    ] as const) {
      const { ask, pay, stock, clock } = purchaseWorld()
      const { accepted } = await pay()
      stock(dearer)
      clock.pass(seconds * 1_000)
      const payment = paymentFor(accepted, clock.now())
      expect((await ask({ payment })).type).toBe(type)
    }
  })

  test('of another offer buys nothing', async () => {
    const { ask, pay, stock } = purchaseWorld()
    stock(card, { ...dearer, id: 'DEAR' as never })
    const payment = await pay()
    const answer = await ask({ payment, fields: { ...ada, offerId: 'DEAR' } })
    expect(expectDemand(answer)).toMatchObject({ terms: { amount: '30000000' }, fault: {} })
  })

  test('that was left out means the price of now', async () => {
    const { ask, pay, stock } = purchaseWorld()
    const payment = await pay()
    const { quote: _, ...extra } = payment.accepted.extra
    stock(dearer)
    const silent: PaymentPayload = { ...payment, accepted: { ...payment.accepted, extra } }
    expect(expectDemand(await ask({ payment: silent })).terms.amount).toBe('30000000')
  })

  test('is not prolonged by payments that fail', async () => {
    const { ask, pay, stock, clock, says } = purchaseWorld()
    says.check = () => ({ outcome: 'bad', code: 'invalid_signature', reason: 'no' })
    let { accepted } = await pay()
    stock(dearer)
    for (let time = 0; time < 3; time += 1) {
      clock.pass(120_000)
      accepted = expectDemand(await ask({ payment: paymentFor(accepted, clock.now()) })).terms
    }
    expect(accepted.amount).toBe('30000000')
  })
})

describe('a payment that is proven to have failed', () => {
  test('asks for another one, and says why', async () => {
    const { buy } = purchaseWorld({ collected: failed })
    expect(expectDemand(await buy())).toMatchObject({
      terms: { amount: '20000000' },
      fault: { code: 'insufficient_funds', reason: 'the wallet is empty' },
    })
  })

  test('asks again whenever it is repeated, and is never collected again', async () => {
    const { ask, pay, calls } = purchaseWorld({ collected: failed })
    const payment = await pay()
    await ask({ ...withKey, payment })
    for (const viewer of [withKey.viewer, {}]) {
      expect(expectDemand(await ask({ viewer, payment })).fault?.code).toBe('insufficient_funds')
    }
    expect(collects(calls)).toBe(1)
  })
})

describe('once an order is on record, nothing that breaks becomes an error', () => {
  test.each(['collect', 'place', 'lookup'] as const)('not %s', async (broken) => {
    const world = purchaseWorld()
    const fail = () => Promise.reject(new Error('broken'))
    const { rails, supplier } = world.deps
    Object.assign(broken === 'collect' ? rails.x402 : supplier, { [broken]: fail })
    const { order, accessToken } = expectOrder(await world.buy())
    expect(order.state).toBe('PAYMENT_PENDING')
    expect(accessToken).toBeDefined()
    expect(world.reports).toMatchObject([{ name: 'step_failed', order: order.id }])
  })

  test('not the database', async () => {
    const world = purchaseWorld()
    Object.assign(world.orders, { move: () => Promise.reject(new Error('gone')) })
    expect(expectOrder(await world.buy()).order.state).toBe('PAYMENT_PENDING')
    expect(world.reports).toMatchObject([{ name: 'step_failed' }])
  })

  test('but an order that may not have been written is not answered with one', async () => {
    const world = purchaseWorld()
    Object.assign(world.orders, { open: () => Promise.reject(new Error('gone')) })
    expect(await refusalOf(world.buy())).toMatchObject({
      code: 'try_again',
      details: { charged: 'unknown' },
    })
    expect(world.calls).toEqual(['check'])
    expect(world.reports).toMatchObject([{ name: 'purchase_failed' }])
  })

  test('and a look for an earlier order that fails does not say that nothing was charged', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    await world.ask({ payment })
    Object.assign(world.orders, { findByPayment: () => Promise.reject(new Error('gone')) })
    expect(await refusalOf(world.ask({ payment }))).toMatchObject({
      code: 'try_again',
      details: { charged: 'unknown' },
    })
  })
})

describe('an eSIM to recharge', () => {
  const iccid = `89${'4'.repeat(17)}`
  const recharge = { kind: 'esim', fields: { offerId: plan.id, iccid } } as const
  const esimHeld = {
    outcome: 'delivered',
    delivery: { kind: 'esim', iccid, activationCode: 'X' },
  } as const

  function worldIn(known: 'yes' | 'no' | 'unknown') {
    const world = purchaseWorld({ held: esimHeld })
    Object.assign(world.deps.supplier, {
      knowsIccid: async () => {
        world.calls.push('knowsIccid')
        return known
      },
    })
    return world
  }

  test('is not asked about while nobody pays', async () => {
    const { ask, calls } = worldIn('no')
    expect((await ask(recharge)).type).toBe('payment_required')
    expect(calls).toEqual([])
  })

  test('is taken when the supplier knows it', async () => {
    expect(expectOrder(await worldIn('yes').buy(recharge)).order.state).toBe('FULFILLED')
  })

  test('is taken when this wallet bought it here, and nobody is asked', async () => {
    const { buy, calls } = worldIn('no')
    expectOrder(await buy({ kind: 'esim', fields: { offerId: plan.id } }))
    expect(expectOrder(await buy(recharge)).order.state).toBe('FULFILLED')
    expect(calls).not.toContain('knowsIccid')
  })

  test('is refused when another wallet bought it', async () => {
    const { ask, buy, pay } = worldIn('no')
    expectOrder(await buy({ kind: 'esim', fields: { offerId: plan.id } }))
    const payment = await pay(recharge)
    const from = `0x${'9'.repeat(40)}`
    const { authorization } = payment.payload
    const other = {
      ...payment,
      payload: { ...payment.payload, authorization: { ...authorization, from } },
    }
    expect((await refusalOf(ask({ ...recharge, payment: other }))).code).toBe('invalid_body')
  })

  test('is refused when nobody knows it, and nothing is taken', async () => {
    const { buy, orders, calls } = worldIn('no')
    expect(await refusalOf(buy(recharge))).toMatchObject({
      code: 'invalid_body',
      details: { parameter: 'iccid' },
    })
    expect(orders.history).toEqual([])
    expect(calls).not.toContain('collect')
  })

  test('is not guessed about when the supplier is silent', async () => {
    const { buy, orders, calls } = worldIn('unknown')
    expect(await refusalOf(buy(recharge))).toMatchObject({
      code: 'try_again',
      details: { charged: 'no' },
    })
    expect(orders.history).toEqual([])
    expect(calls).not.toContain('collect')
  })

  test('is not looked up for a payment that is not theirs to make', async () => {
    const world = worldIn('no')
    world.says.check = () => ({ outcome: 'bad', code: 'invalid_signature', reason: 'no' })
    expect((await world.buy(recharge)).type).toBe('payment_required')
    expect(world.calls).not.toContain('knowsIccid')
  })
})
