import { describe, expect, test } from 'vitest'
import { fixed, open, voucher } from '../../test/fixtures/offers.ts'
import type { X402Tender } from '../payments/payment.ts'
import { paymentFor } from '../payments/payments.fixture.ts'
import type { PaymentPayload } from '../payments/x402.ts'
import { Refusal } from '../primitives/refusal.ts'
import { hashOf } from '../secrets/tokens.ts'
import {
  ada,
  card,
  expectDemand,
  expectOrder,
  openCard,
  purchaseWorld,
  refusalOf,
} from './purchase.fixture.ts'
import { paymentKeyIn } from './replay.ts'

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

  test('keeps what the offer told its buyer', async () => {
    const { buy, orders, stock } = purchaseWorld()
    const sold = {
      ...openCard,
      faceValue: { ...openCard.price, currency: 'EUR' },
      subTypes: ['Game'],
    }
    stock(sold as never)
    const { order } = expectOrder(await buy({ fields: { ...ada, offerId: 'OPEN', value: 12.5 } }))
    stock()
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
    expect(world.calls).toEqual(['isUnused'])
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

  test('when the payment is for other terms', async () => {
    const { ask, pay, orders, calls } = purchaseWorld()
    const payment = await pay()
    const accepted = { ...payment.accepted, amount: '1' }
    const { fault } = expectDemand(await ask({ payment: { ...payment, accepted } }))
    expect(fault?.code).toBe('payment_mismatch')
    expect([orders.history, calls]).toEqual([[], ['isUnused']])
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

  test.each([
    ['in another currency', { price: fixed(2_000, 'EUR') }],
    ['in other parts of its currency', { price: fixed(20_000, 'USD', 1_000) }],
    ['worth another currency', { price: fixed(2_000), faceValue: fixed(2_500, 'EUR') }],
  ])('is for nothing that is now %s', async (_, changes) => {
    const { ask, pay, stock } = purchaseWorld()
    const payment = await pay()
    // A rate at which the new price is not the old one.
    stock(
      voucher('CARD', { ...changes, price: { ...changes.price, fixed: changes.price.fixed * 2 } }),
    )
    expect(expectDemand(await ask({ payment })).fault?.code).toBe('payment_mismatch')
  })

  test('does not widen the range of an open value', async () => {
    const { ask, pay, stock } = purchaseWorld()
    const fields = { ...ada, offerId: 'OPEN', value: 100 }
    const payment = await pay({ fields })
    stock({ ...openCard, price: open(500, 5_000, 250) })
    const refusal = await refusalOf(ask({ payment, fields }))
    expect(refusal).toMatchObject({ code: 'invalid_body', details: { parameter: 'value' } })
  })

  test('does not sell what is not sold any more', async () => {
    const { ask, pay, stock } = purchaseWorld()
    const fields = { ...ada, offerId: 'OPEN', value: 100 }
    const payment = await pay({ fields })
    stock({ ...openCard, price: { ...openCard.price, currency: 'EUR' } })
    expect((await refusalOf(ask({ payment, fields }))).code).toBe('offer_unavailable')
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
  test.each([
    ['collect', 'PAYMENT_PENDING'],
    ['place', 'FULFILLING'],
    ['lookup', 'FULFILLING'],
  ] as const)('not %s; the answer is the order as it is on record', async (broken, state) => {
    const world = purchaseWorld()
    const fail = () => Promise.reject(new Error('broken'))
    const { rails, supplier } = world.deps
    Object.assign(broken === 'collect' ? rails.x402 : supplier, { [broken]: fail })
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

describe('a payment that came with a request', () => {
  const other = { ...ada, firstName: 'Mallory' }

  /** Sends the payment with another wish in the middle of the check of the first. */
  async function stolen(world: ReturnType<typeof purchaseWorld>, signed = true, copied = true) {
    const payment = await world.pay()
    const { check } = world.deps.rails.x402
    let theft: Promise<unknown> | undefined
    world.says.isSigned = signed
    Object.assign(world.deps.rails.x402, {
      check: async (tender: X402Tender) => {
        if (theft) return check(tender)
        world.says.isSigned = copied
        theft = refusalOf(world.ask({ payment, fields: other }))
        await theft
        return check(tender)
      },
    })
    return { answer: await world.ask({ payment }), theft: await theft }
  }

  test.each([
    ['of a key', true, true],
    ['of a key, and sent on in another form', true, false],
    ['of a contract wallet', false, false],
  ])('is for no other, before anybody outside has seen it: a signature %s', async (...forms) => {
    const [, signed, copied] = forms
    const world = purchaseWorld()
    const { answer, theft } = await stolen(world, signed, copied)
    expect(theft).toMatchObject({ code: 'payment_reused', details: { charged: 'unknown' } })
    expect(expectOrder(answer).order.state).toBe('FULFILLED')
    expect(world.calls.filter((call) => call === 'check')).toHaveLength(1)
  })

  test('is not kept from its payer by a stranger who has no signature', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    world.says.isSigned = false
    world.says.check = () => ({ outcome: 'unknown', charged: 'unknown', reason: 'silence' })
    await refusalOf(world.ask({ payment, fields: other }))
    world.says.isSigned = true
    world.says.check = (tender) => ({ outcome: 'good', tender })
    expect(expectOrder(await world.ask({ payment })).order.state).toBe('FULFILLED')
  })

  test.each(['bad', 'unknown'] as const)(
    'is bound to nothing once it has ended, unless it is good: %s',
    async (outcome) => {
      const world = purchaseWorld()
      const payment = await world.pay()
      world.clock.pass(299_000)
      const { authorization } = payment.payload
      world.says.check = () => ({ outcome, charged: 'unknown', code: 'expired', reason: 'late' })
      const send = (validBefore: number) =>
        world
          .ask({
            payment: {
              ...payment,
              payload: {
                ...payment.payload,
                authorization: { ...authorization, validBefore: String(validBefore) },
              },
            },
          })
          .catch(() => undefined)
      const now = Math.floor(world.clock.now().getTime() / 1_000)
      const kept = () => world.deps.reservations.isConsidered(paymentKeyIn(payment))
      await send(now)
      expect(await kept()).toBe(false)
      await send(now + 60)
      expect(await kept()).toBe(true)
    },
  )

  test('that has ended and is good still belongs to the request that it came with first', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    world.says.check = () => ({ outcome: 'unknown', charged: 'unknown', reason: 'silence' })
    await refusalOf(world.ask({ payment }))
    world.clock.pass(301_000)
    world.says.check = (tender) => ({ outcome: 'good', tender })
    expect(await refusalOf(world.ask({ payment, fields: other }))).toMatchObject({
      code: 'payment_reused',
    })
    expect(expectOrder(await world.ask({ payment })).order.state).toBe('FULFILLED')
  })

  test('counts like one that is refused when nobody can say that it is good', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    const counted: string[] = []
    const ask = () => refusalOf(world.ask({ payment, showedNothing: () => counted.push('one') }))
    world.says.check = () => ({ outcome: 'unknown', charged: 'unknown', reason: 'silence' })
    await ask()
    expect(counted).toEqual(['one'])
    // Its terms are those of another price, and it has ended.
    world.stock({ ...card, price: fixed(3_000) })
    world.clock.pass(301_000)
    world.says.isUnused = false
    await ask()
    expect(counted).toEqual(['one', 'one'])
  })

  test('is not asked for again while an equal request may be about to take it', async () => {
    const world = purchaseWorld()
    const signed = await world.pay()
    const { quote: _, ...extra } = signed.accepted.extra
    const payment = { ...signed, accepted: { ...signed.accepted, extra } }
    world.says.check = () => ({ outcome: 'unknown', charged: 'unknown', reason: 'silence' })
    await refusalOf(world.ask({ payment }))
    world.stock({ ...card, price: fixed(3_000) })
    world.clock.pass(30_000)
    const heard: string[] = []
    const again = () => world.ask({ payment, foundUnpaid: () => heard.push('unpaid') })
    expect(await refusalOf(again())).toMatchObject({ details: { charged: 'unknown' } })
    expect(heard).toEqual([])
    world.clock.pass(60_000)
    expect(expectDemand(await again()).fault?.code).toBe('payment_mismatch')
    expect(heard).toEqual(['unpaid'])
  })
})

describe('a payment that opens no order', () => {
  type World = ReturnType<typeof purchaseWorld>

  /** What keeps a payment from being checked, after it was signed. */
  const unchecked: Record<string, (world: World, payment: PaymentPayload) => object> = {
    'the price has moved since its promise ended': ({ stock, clock }) => {
      stock({ ...card, price: fixed(3_000) })
      clock.pass(301_000)
      return {}
    },
    'it holds for too long': ({ clock }, payment) => {
      const { authorization } = payment.payload
      const validBefore = String(Math.floor(clock.now().getTime() / 1_000) + 700)
      const longer = { ...payment.payload, authorization: { ...authorization, validBefore } }
      return { payment: { ...payment, payload: longer } }
    },
    'the store is paused': ({ says }) => {
      says.unsold = { type: 'paused' }
      return {}
    },
    'the offer was delisted': ({ stock }) => {
      stock(openCard)
      return {}
    },
    'the body is wrong': () => ({ fields: { ...ada, firstName: '' } }),
    'its key is of no form': () => ({ heldUp: new Refusal('invalid_header', 'The key is wrong.') }),
  }

  async function turnedDown(why: string, isUnused: boolean) {
    const world = purchaseWorld()
    const payment = await world.pay()
    const changes = unchecked[why]?.(world, payment)
    world.says.isUnused = isUnused
    const heard: string[] = []
    const hears = {
      foundUnpaid: () => heard.push('unpaid'),
      showedNothing: () => heard.push('counted'),
    }
    const answer = await world.ask({ payment, ...hears, ...changes }).catch((error) => error)
    return { world, heard, answer }
  }

  test.each(Object.keys(unchecked))('is said to be unpaid once it is unused: %s', async (why) => {
    const { heard, world } = await turnedDown(why, true)
    expect(heard).toEqual(['unpaid'])
    expect(world.calls).toEqual(['isUnused'])
  })

  test.each(Object.keys(unchecked))('is not, and counts, while it may be used: %s', async (why) => {
    const { heard, answer } = await turnedDown(why, false)
    expect(heard).toEqual(['counted'])
    expect(answer).toBeInstanceOf(Refusal)
  })

  test('has nobody asked for it above a limit, and is not said to be unpaid', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    const heard: string[] = []
    const heldUp = new Refusal('rate_limited', 'Too many.')
    const foundUnpaid = () => heard.push('unpaid')
    expect((await refusalOf(world.ask({ payment, heldUp, foundUnpaid }))).code).toBe('rate_limited')
    expect([heard, world.calls]).toEqual([[], []])
  })

  test('has nobody asked for it that pays somebody else', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    const authorization = { ...payment.payload.authorization, to: `0x${'7'.repeat(40)}` }
    const elsewhere = { ...payment, payload: { ...payment.payload, authorization } }
    expect(expectDemand(await world.ask({ payment: elsewhere })).fault?.code).toBe(
      'payment_mismatch',
    )
    expect(world.calls).toEqual([])
  })

  test.each([
    [
      'an eSIM that is not theirs',
      { kind: 'esim', fields: { offerId: 'PLAN', iccid: '8901260852290847532' } },
    ],
  ] as const)('is said to be paid once its money is here: %s', async (_, request) => {
    const world = purchaseWorld()
    const payment = await world.pay(request)
    world.says.check = (tender) => ({ outcome: 'good', tender, hasLanded: true })
    expect(await refusalOf(world.ask({ ...request, payment }))).toMatchObject({
      code: 'invalid_body',
      details: { charged: 'yes' },
    })
  })
})
