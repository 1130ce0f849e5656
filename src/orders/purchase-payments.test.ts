import { describe, expect, test, vi } from 'vitest'
import { fixed } from '../../test/fixtures/offers.ts'
import { Refusal } from '../lib/refusal.ts'
import type { Checked, X402Payment } from '../payments/payment.ts'
import { authorizedAs } from '../payments/payments.fixture.ts'
import type { PaymentPayload } from '../payments/terms.ts'
import { maxConsideredMs } from './ports.ts'
import {
  ada,
  card,
  expectOrder,
  expectPaymentRequired,
  openCard,
  purchaseWorld,
  refusalOf,
} from './purchase.fixture.ts'

describe('a payment that came with a request', () => {
  const other = { ...ada, firstName: 'Mallory' }

  /** Sends the payment with another request while the first request is being checked. */
  async function stolen(world: ReturnType<typeof purchaseWorld>, signed = true, copied = true) {
    const payment = await world.pay()
    const { check } = world.deps.methods.x402
    let theft: Promise<unknown> | undefined
    world.says.isSigned = signed
    Object.assign(world.deps.methods.x402, {
      check: async (shown: X402Payment) => {
        if (theft) return check(shown)
        world.says.isSigned = copied
        theft = refusalOf(world.ask({ payment, fields: other }))
        await theft
        return check(shown)
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
    world.says.check = (payment) => ({ outcome: 'good', payment })
    expect(expectOrder(await world.ask({ payment })).order.state).toBe('FULFILLED')
  })

  test.each(['bad', 'unknown'] as const)(
    'is bound to nothing once it has ended, unless it is good: %s',
    async (outcome) => {
      const world = purchaseWorld()
      const payment = await world.pay()
      world.clock.pass(299_000)
      world.says.check = () => ({ outcome, charged: 'unknown', code: 'expired', reason: 'late' })
      const send = (validBefore: number) =>
        world
          .ask({ payment: authorizedAs(payment, { validBefore: String(validBefore) }) })
          .catch(() => undefined)
      const now = Math.floor(world.clock.now().getTime() / 1_000)
      const reserved = vi.spyOn(world.deps.reservations, 'reserve')
      await send(now)
      expect(reserved).not.toHaveBeenCalled()
      await send(now + 60)
      expect(reserved).toHaveBeenCalledOnce()
    },
  )

  test('that has ended and is good still belongs to the request that it came with first', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    world.says.check = () => ({ outcome: 'unknown', charged: 'unknown', reason: 'silence' })
    await refusalOf(world.ask({ payment }))
    world.clock.pass(301_000)
    world.says.check = (payment) => ({ outcome: 'good', payment })
    expect(await refusalOf(world.ask({ payment, fields: other }))).toMatchObject({
      code: 'payment_reused',
    })
    expect(expectOrder(await world.ask({ payment })).order.state).toBe('FULFILLED')
  })

  test('counts like one that is refused when nobody can say that it is good', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    const ask = () => refusalOf(world.ask({ payment }))
    const counts = { details: { provesNothing: true } }
    world.says.check = () => ({ outcome: 'unknown', charged: 'unknown', reason: 'silence' })
    expect(await ask()).toMatchObject(counts)
    // The payment is for an old price now, and its authorization has ended.
    world.putOnSale({ ...card, price: fixed(3_000) })
    world.clock.pass(301_000)
    world.says.isUnused = false
    expect(await ask()).toMatchObject(counts)
  })

  test('is not asked for again while an equal request may be about to take it', async () => {
    const world = purchaseWorld()
    const signed = await world.pay()
    const { quote: _, ...extra } = signed.accepted.extra
    const payment = { ...signed, accepted: { ...signed.accepted, extra } }
    world.says.check = () => ({ outcome: 'unknown', charged: 'unknown', reason: 'silence' })
    await refusalOf(world.ask({ payment }))
    world.putOnSale({ ...card, price: fixed(3_000) })
    world.clock.pass(30_000)
    const again = () => world.ask({ payment })
    expect(await refusalOf(again())).toMatchObject({ details: { charged: 'unknown' } })
    world.clock.pass(60_000)
    expect(expectPaymentRequired(await again()).fault?.code).toBe('payment_mismatch')
  })
})

describe('what is said of a payment that no node could judge, and that moved nothing', () => {
  /** A request whose last lookup of its order takes so long, as in a process that was paused. */
  async function askedAgain(takesMs: number, considered = false) {
    const world = purchaseWorld()
    const payment = await world.pay()
    world.says.check = () => ({ outcome: 'unknown', charged: 'no', reason: 'no witness answers' })
    const { orders, reservations } = world.deps
    vi.spyOn(reservations, 'isConsidered').mockResolvedValue(considered)
    const find = orders.findByPayment.bind(orders)
    let looks = 0
    vi.spyOn(orders, 'findByPayment').mockImplementation(async (key) => {
      looks += 1
      const found = await find(key)
      if (looks > 1) world.clock.pass(takesMs)
      return found
    })
    return (await refusalOf(world.ask({ payment }))).details.charged
  }

  test('is that nothing was charged', async () => {
    expect(await askedAgain(10_000)).toBe('no')
  })

  test('is nothing once that was found too long ago, or while an equal request may take it', async () => {
    expect(await askedAgain(10_001)).toBe('unknown')
    expect(await askedAgain(0, true)).toBe('unknown')
  })
})

describe('a payment that two equal requests bring at once', () => {
  /** Holds the first request in its check until the second one, with the given verdict, is answered. */
  async function differing(second: Verdict, first: Verdict = 'good', pauseMs = 0) {
    const world = purchaseWorld()
    const payment = await world.pay()
    const hold = Promise.withResolvers<void>()
    const entered = Promise.withResolvers<void>()
    const verdicts = [first, second]
    const check = async (payment: X402Payment): Promise<Checked<X402Payment>> => {
      const verdict = verdicts.shift()
      if (verdicts.length > 0) {
        entered.resolve()
        await hold.promise
      }
      return verdict === 'bad' ? bad : { outcome: 'good', payment }
    }
    Object.assign(world.deps.methods.x402, { check })
    const begun = world.ask({ payment })
    await entered.promise
    world.clock.pass(pauseMs)
    const answer = await world.ask({ payment }).catch((error: unknown) => error)
    hold.resolve()
    return { world, payment, answer, first: await begun.catch((error: unknown) => error) }
  }
  type Verdict = 'good' | 'bad'
  const bad = { outcome: 'bad', code: 'insufficient_funds', reason: 'too little' } as const

  test('is not turned down for one that was judged bad, while the other goes on', async () => {
    const { answer, first } = await differing('bad')
    expect(answer).toMatchObject({ code: 'try_again', details: { charged: 'unknown' } })
    expect(first).toMatchObject({ type: 'order', order: { state: 'FULFILLED' } })
  })

  test('is turned down for the last of them, where both were judged bad', async () => {
    const { answer, first } = await differing('bad', 'bad')
    expect(answer).toMatchObject({ code: 'try_again' })
    expect(first).toMatchObject({ type: 'payment_required', fault: { code: 'insufficient_funds' } })
  })

  test('is turned down again at once where it came alone and was judged bad', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    world.says.check = () => bad
    for (let time = 0; time < 3; time += 1) {
      expect(expectPaymentRequired(await world.ask({ payment })).fault?.code).toBe(
        'insufficient_funds',
      )
    }
  })

  test('waits for nobody who came a minute ago', async () => {
    const { answer } = await differing('bad', 'good', maxConsideredMs)
    expect(answer).toMatchObject({ type: 'payment_required' })
  })
})

describe('a payment that opens no order', () => {
  type World = ReturnType<typeof purchaseWorld>

  /** Reasons why a signed payment is not checked. */
  const unchecked: Record<string, (world: World, payment: PaymentPayload) => object> = {
    'the price has moved since its promise ended': ({ putOnSale, clock }) => {
      putOnSale({ ...card, price: fixed(3_000) })
      clock.pass(301_000)
      return {}
    },
    'it holds for too long': ({ clock }, payment) => {
      const validBefore = String(Math.floor(clock.now().getTime() / 1_000) + 700)
      return { payment: authorizedAs(payment, { validBefore }) }
    },
    'the store is paused': ({ says }) => {
      says.unsold = { type: 'paused' }
      return {}
    },
    'the offer was delisted': ({ putOnSale }) => {
      putOnSale(openCard)
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
    const answer = await world.ask({ payment, ...changes }).catch((error) => error)
    return { world, answer }
  }

  test.each(Object.keys(unchecked))('is said to be unpaid once it is unused: %s', async (why) => {
    const { answer, world } = await turnedDown(why, true)
    // A demand says the same without words.
    if (answer instanceof Refusal) expect(answer.details).toMatchObject({ charged: 'no' })
    else expectPaymentRequired(answer)
    expect(world.calls).toEqual(['isUnused'])
  })

  test.each(Object.keys(unchecked))('is not, and counts, while it may be used: %s', async (why) => {
    const { answer } = await turnedDown(why, false)
    expect(answer).toMatchObject({ details: { charged: 'unknown', provesNothing: true } })
  })

  test('has nobody asked for it above a limit, and is not said to be unpaid', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    const heldUp = new Refusal('rate_limited', 'Too many.')
    expect(await refusalOf(world.ask({ payment, heldUp }))).toMatchObject({
      code: 'rate_limited',
      details: { charged: 'unknown' },
    })
    expect(world.calls).toEqual([])
  })

  test('has nobody asked for it that pays somebody else', async () => {
    const world = purchaseWorld()
    const payment = await world.pay()
    const elsewhere = authorizedAs(payment, { to: `0x${'7'.repeat(40)}` })
    expect(expectPaymentRequired(await world.ask({ payment: elsewhere })).fault?.code).toBe(
      'payment_mismatch',
    )
    expect(world.calls).toEqual([])
  })

  test('is said to be paid once its money is here', async () => {
    const request = {
      kind: 'esim' as const,
      fields: { offerId: 'PLAN', iccid: '8901260852290847532' },
    }
    const world = purchaseWorld()
    const payment = await world.pay(request)
    world.says.check = (payment) => ({ outcome: 'good', payment, hasLanded: true })
    expect(await refusalOf(world.ask({ ...request, payment }))).toMatchObject({
      code: 'invalid_body',
      details: { charged: 'yes' },
    })
  })
})
