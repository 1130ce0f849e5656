import { describe, expect, test, vi } from 'vitest'
import { alwaysSold } from '../../test/doubles/orders.ts'
import { fixed, fixturePricing, open, voucher } from '../../test/fixtures/offers.ts'
import { type Effect, noRules, sellingRulesOf } from '../catalog/selling-rules.ts'
import { createHealth } from '../health/health.ts'
import { ample, fundsOf } from '../health/means.fixture.ts'
import { usdc } from '../lib/money.ts'
import type { Refusal } from '../lib/refusal.ts'
import type { X402Payment } from '../payments/payment.ts'
import { paymentFor } from '../payments/payments.fixture.ts'
import type { PaymentPayload } from '../payments/terms.ts'
import { hashOf } from '../secrets/secrets.ts'
import {
  ada,
  card,
  expectOrder,
  expectPaymentRequired,
  openCard,
  purchaseWorld,
  refusalOf,
} from './purchase.fixture.ts'
import type { PurchaseDeps } from './purchase.ts'

const key = 'key-of-16-letters'
const withKey = { viewer: { keys: [key] } }
const collects = (calls: readonly string[]) => calls.filter((call) => call === 'collect').length
const failed = {
  outcome: 'failed',
  code: 'insufficient_funds',
  reason: 'the wallet is empty',
} as const
const pending = { outcome: 'pending' } as const

describe('without a payment', () => {
  test('the price is named, nothing is stored and nobody is asked', async () => {
    const { ask, calls, orders } = purchaseWorld()
    const { accepts, offer, fault } = expectPaymentRequired(await ask())
    expect(accepts).toMatchObject([{ amount: '20000000', maxTimeoutSeconds: 300 }])
    expect(offer.id).toBe('CARD')
    expect(fault).toBeUndefined()
    expect([calls, orders.history]).toEqual([[], []])
  })

  test('an open value is priced as it was chosen', async () => {
    const { ask } = purchaseWorld()
    const fields = { ...ada, offerId: 'OPEN', value: 12.5 }
    expect(expectPaymentRequired(await ask({ fields })).accepts[0].amount).toBe('12500000')
  })
})

describe('a good payment', () => {
  test('is checked, then put on record, then collected, and then the goods are bought', async () => {
    const { buy, calls, orders } = purchaseWorld()
    const { order, accessToken, replayed, reveal } = expectOrder(await buy())
    expect(order.state).toBe('FULFILLED')
    expect(calls).toEqual(['check', 'collect', 'place', 'lookup'])
    expect(orders.history[0]).toMatchObject({ state: 'PAYMENT_PENDING', amount: 20_000_000n })
    expect([replayed, reveal]).toEqual([false, 'purchase'])
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
    const { buy, putOnSale } = purchaseWorld()
    putOnSale({
      ...openCard,
      price: { ...openCard.price, divisor: 10, min: 50, max: 900, increment: 5 } as never,
    })
    const { order } = expectOrder(await buy({ fields: { ...ada, offerId: 'OPEN', value: 12.5 } }))
    expect(order.item).toMatchObject({ offerId: 'OPEN', value: 125 })
  })

  test('keeps what the offer told its buyer', async () => {
    const { buy, orders, putOnSale } = purchaseWorld()
    const sold = {
      ...openCard,
      faceValue: { ...openCard.price, currency: 'EUR' },
      subTypes: ['Game'],
    }
    putOnSale(sold as never)
    const { order } = expectOrder(await buy({ fields: { ...ada, offerId: 'OPEN', value: 12.5 } }))
    putOnSale()
    const { price, faceValue, subTypes } = sold
    expect((await orders.find(order.id))?.item.shown).toEqual({ price, faceValue, subTypes })
  })

  test('is answered when the patience ends, with an order that goes on', async () => {
    const { buy, clock } = purchaseWorld({ held: pending })
    const start = clock.now().getTime()
    const { order } = expectOrder(await buy({ patienceMs: 3_000 }))
    expect(order.state).toBe('FULFILLING')
    expect(clock.now().getTime() - start).toBe(3_000)
  })

  test('is not answered while its payment is under way, whatever the patience', async () => {
    const collecting = Promise.withResolvers<void>()
    const waits: number[] = []
    const within: NonNullable<PurchaseDeps['within']> = async (ms, working) => {
      waits.push(ms)
      if (waits.length < 3) throw new Error('late')
      collecting.resolve()
      return working
    }
    const { deps, buy } = purchaseWorld({}, { within })
    const { collect } = deps.methods.x402
    Object.assign(deps.methods.x402, {
      collect: async (payment: X402Payment) => {
        await collecting.promise
        return collect(payment)
      },
    })
    expect(expectOrder(await buy()).order.state).toBe('FULFILLED')
    expect(waits).toEqual([20_000, 250, 250])
  })

  test('never waits longer than the store does', async () => {
    const { buy, clock } = purchaseWorld({ held: pending })
    const start = clock.now().getTime()
    await buy({ patienceMs: 600_000 })
    expect(clock.now().getTime() - start).toBe(20_000)
  })
})

describe('nothing is stored and nothing taken', () => {
  async function expectUntouched(
    world: ReturnType<typeof purchaseWorld>,
    act: Promise<unknown>,
  ): Promise<Refusal> {
    const refusal = await refusalOf(act)
    expect(world.orders.history).toEqual([])
    const looks = ['check', 'knowsIccid', 'isUnused']
    expect(world.calls.filter((call) => !looks.includes(call))).toEqual([])
    return refusal
  }

  test('while the payment cannot be checked', async () => {
    const world = purchaseWorld()
    world.says.check = () => ({
      outcome: 'unknown',
      reason: 'the node is silent',
      charged: 'unknown',
    })
    const refusal = await expectUntouched(world, world.buy())
    expect(refusal).toMatchObject({
      code: 'try_again',
      details: { charged: 'unknown', retryAfterSeconds: expect.any(Number) },
    })
    expect(refusal.message).not.toContain('the node is silent')
  })

  test('while a budget of its payer is spent; the payment is not even checked', async () => {
    const budgets = { payer: { unpaid_payments: 1 }, client: {}, receiver: {}, order: {} }
    const world = purchaseWorld(
      { collected: { outcome: 'unknown', reason: 'timeout' } },
      { budgets },
    )
    expectOrder(await world.buy({ patienceMs: 0 }))
    const asked = world.calls.length
    expect(await refusalOf(world.buy())).toMatchObject({
      code: 'budget_spent',
      details: { extra: { budget: 'unpaid_payments', whose: 'payer' } },
    })
    expect(world.calls.slice(asked)).toEqual(['isUnused'])
  })

  test('while its payer has a share of the float at risk; the payment is not even checked', async () => {
    const cover = { float: usdc(50_000_000n), exposure: usdc(0n) }
    const health = { ...alwaysSold, means: () => ({ ...ample, cover }) }
    const unknown = { outcome: 'unknown', reason: 'timeout' } as const
    const world = purchaseWorld({ collected: unknown }, { health })
    expectOrder(await world.buy({ patienceMs: 0 }))
    const asked = world.calls.length
    expect(await refusalOf(world.buy())).toMatchObject({
      code: 'budget_spent',
      details: { extra: { budget: 'exposure', whose: 'payer' }, retryAfterSeconds: 60 },
    })
    expect(world.calls.slice(asked)).toEqual(['isUnused'])
  })

  test('while the signals say stop, with and without a payment', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    world.says.unsold = { type: 'paused' }
    for (const sent of [payment, undefined]) {
      expect(await expectUntouched(world, world.ask({ payment: sent }))).toMatchObject({
        code: 'store_paused',
        details: { extra: { agent_action: 'stop' } },
      })
    }
    world.says.unsold = { type: 'supplier_paused' }
    expect(await expectUntouched(world, world.ask())).toMatchObject({
      code: 'offer_unavailable',
      details: { retryAfterSeconds: 60 },
    })
    expect(world.calls).toEqual(['isUnused'])
  })

  test('when the check says no; the answer asks again and says why', async () => {
    const { buy, says, orders, calls } = purchaseWorld()
    says.check = () => ({ outcome: 'bad', code: 'invalid_signature', reason: 'it is not theirs' })
    const { fault, accepts } = expectPaymentRequired(await buy())
    expect(fault).toEqual({ code: 'invalid_signature', reason: 'it is not theirs' })
    expect(accepts[0].amount).toBe('20000000')
    expect([orders.history, calls]).toEqual([[], ['check']])
  })

  test('when the payment is for other terms', async () => {
    const { ask, pay, orders, calls } = purchaseWorld()
    const payment = await pay()
    const accepted = { ...payment.accepted, amount: '1' }
    const { fault } = expectPaymentRequired(await ask({ payment: { ...payment, accepted } }))
    expect(fault?.code).toBe('payment_mismatch')
    expect([orders.history, calls]).toEqual([[], ['isUnused']])
  })
})

describe('what the supplier has funds for', () => {
  /** A store whose supplier wallet pays for one card and no second one. */
  async function worldForOne() {
    const health = createHealth(() => new Date(0))
    health.noteCatalog(new Date(0))
    health.noteMeans({ ...ample, funds: fundsOf(30_000_000n) })
    const world = purchaseWorld({}, { health })
    return { ...world, payments: [await world.pay(), await world.pay()] }
  }

  test('is sold once, however many payments are checked at once', async () => {
    const { ask, payments, orders } = await worldForOne()
    const answers = await Promise.allSettled(payments.map((payment) => ask({ payment })))
    expect(answers).toMatchObject([
      { status: 'fulfilled' },
      { reason: { code: 'offer_unavailable', details: { extra: { reason: 'too_large' } } } },
    ])
    expect(orders.history.filter(({ version }) => version === 1)).toHaveLength(1)
  })

  test('is there for others when no order could be opened', async () => {
    const { ask, payments, orders } = await worldForOne()
    const [one, other] = payments
    vi.spyOn(orders, 'open').mockRejectedValueOnce(new Error('gone'))
    expect((await refusalOf(ask({ payment: one }))).code).toBe('try_again')
    expectOrder(await ask({ payment: other }))
  })
})

describe('a promised price', () => {
  const dearer = voucher('CARD', { price: fixed(3_000) })

  test('is honoured although the price rose meanwhile', async () => {
    const { ask, pay, putOnSale } = purchaseWorld()
    const payment = await pay()
    putOnSale(dearer)
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
      const { ask, pay, putOnSale, clock } = purchaseWorld()
      const { accepted } = await pay()
      putOnSale(dearer)
      clock.pass(seconds * 1_000)
      const payment = paymentFor(accepted, clock.now())
      expect((await ask({ payment })).type).toBe(type)
    }
  })

  test.each([
    ['in another currency', { price: fixed(2_000, 'EUR') }],
    ['in other parts of its currency', { price: fixed(20_000, 'USD', 1_000) }],
    ['worth another currency', { price: fixed(2_000), faceValue: fixed(2_500, 'EUR') }],
  ])('is for nothing that is now %s', async (_, changes) => {
    const { ask, pay, putOnSale } = purchaseWorld()
    const payment = await pay()
    // Doubled, so that the new price differs from the promised one at any rate used here.
    putOnSale(
      voucher('CARD', { ...changes, price: { ...changes.price, fixed: changes.price.fixed * 2 } }),
    )
    expect(expectPaymentRequired(await ask({ payment })).fault?.code).toBe('payment_mismatch')
  })

  test('does not widen the range of an open value', async () => {
    const { ask, pay, putOnSale } = purchaseWorld()
    const fields = { ...ada, offerId: 'OPEN', value: 100 }
    const payment = await pay({ fields })
    putOnSale({ ...openCard, price: open(500, 5_000, 250) })
    const refusal = await refusalOf(ask({ payment, fields }))
    expect(refusal).toMatchObject({ code: 'invalid_body', details: { parameter: 'value' } })
  })

  test('does not sell what is not sold any more', async () => {
    const { ask, pay, putOnSale } = purchaseWorld()
    const fields = { ...ada, offerId: 'OPEN', value: 100 }
    const payment = await pay({ fields })
    putOnSale({ ...openCard, price: { ...openCard.price, currency: 'EUR' } })
    expect((await refusalOf(ask({ payment, fields }))).code).toBe('offer_unavailable')
  })

  test('outlives a dearer rule, but no pause', async () => {
    const dearerRules = ruled('everything', { type: 'margin', bps: 5_000, cents: 0 })
    const inForce = { rules: noRules }
    const pricing = fixturePricing({ rules: () => inForce.rules })
    const { ask, pay, calls } = purchaseWorld({}, { pricing })
    const [early, late] = [await pay(), await pay()]
    inForce.rules = dearerRules
    expect(expectPaymentRequired(await ask()).accepts[0].amount).toBe('30000000')
    expect(expectOrder(await ask({ payment: early })).order.amount).toBe(20_000_000n)
    calls.length = 0
    inForce.rules = ruled('brand', { type: 'pause' })
    expect(await refusalOf(ask({ payment: late }))).toMatchObject({
      code: 'offer_unavailable',
      details: { charged: 'no', extra: { reason: 'paused' } },
    })
    inForce.rules = ruled('everything', { type: 'pause' })
    expect(await refusalOf(ask({ payment: late }))).toMatchObject({ code: 'store_paused' })
    expect(calls).not.toContain('check')
  })

  test('of another offer buys nothing', async () => {
    const { ask, pay, putOnSale } = purchaseWorld()
    putOnSale(card, { ...dearer, id: 'DEAR' as never })
    const payment = await pay()
    const answer = await ask({ payment, fields: { ...ada, offerId: 'DEAR' } })
    expect(expectPaymentRequired(answer)).toMatchObject({
      accepts: [{ amount: '30000000' }],
      fault: {},
    })
  })

  test('that was left out means the price of now', async () => {
    const { ask, pay, putOnSale } = purchaseWorld()
    const payment = await pay()
    const { quote: _, ...extra } = payment.accepted.extra
    putOnSale(dearer)
    const silent: PaymentPayload = { ...payment, accepted: { ...payment.accepted, extra } }
    expect(expectPaymentRequired(await ask({ payment: silent })).accepts[0].amount).toBe('30000000')
  })

  test('is not prolonged by payments that fail', async () => {
    const { ask, pay, putOnSale, clock, says } = purchaseWorld()
    says.check = () => ({ outcome: 'bad', code: 'invalid_signature', reason: 'no' })
    let { accepted } = await pay()
    putOnSale(dearer)
    for (let time = 0; time < 3; time += 1) {
      clock.pass(120_000)
      accepted = expectPaymentRequired(await ask({ payment: paymentFor(accepted, clock.now()) }))
        .accepts[0]
    }
    expect(accepted.amount).toBe('30000000')
  })
})

function ruled(type: 'brand' | 'everything', effect: Effect) {
  return sellingRulesOf([
    { id: 1, scope: { type, key: type === 'brand' ? card.brand : '' }, effect },
  ])
}

describe('a payment that is proven to have failed', () => {
  test('asks again whenever it is repeated, and is never collected again', async () => {
    const { ask, pay, calls } = purchaseWorld({ collected: failed })
    const payment = await pay()
    await ask({ ...withKey, payment })
    for (const viewer of [withKey.viewer, {}]) {
      expect(expectPaymentRequired(await ask({ viewer, payment })).fault?.code).toBe(
        'insufficient_funds',
      )
    }
    expect(collects(calls)).toBe(1)
  })
})

describe('once an order is on record, nothing that breaks becomes an error', () => {
  test.each([
    ['collect', 'PAYMENT_PENDING'],
    ['place', 'FULFILLING'],
    ['lookup', 'FULFILLING'],
  ] as const)('not %s; the answer is the order as it is on record', async (broken, state) => {
    const world = purchaseWorld()
    const fail = () => Promise.reject(new Error('broken'))
    const { deps, supplier } = world
    Object.assign(broken === 'collect' ? deps.methods.x402 : supplier, { [broken]: fail })
    const { order, accessToken } = expectOrder(await world.buy())
    expect(order.state).toBe(state)
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
