import { describe, expect, test } from 'vitest'
import {
  type CheckoutWorld,
  cardForm,
  checkoutWorld,
  invoiced,
} from '../../test/doubles/checkouts.ts'
import { Refusal } from '../primitives/refusal.ts'
import { hashOf } from '../secrets/tokens.ts'
import type { Checkout } from './checkout.ts'
import { retryReturn } from './retry-return.ts'
import type { CheckoutForm } from './start.ts'
import { sweepCheckouts } from './sweep.ts'

const minute = 60_000
const ether = { coin: 'USDT', network: 'Ethereum' } as const
const hour = 60 * minute

/** A checkout with its invoice, waiting for its payment. */
async function open(world: CheckoutWorld, form: Partial<CheckoutForm> = {}) {
  const { checkout, accessToken } = await world.start(form)
  const { invoice } = invoiced(checkout)
  return { id: checkout.id, orderId: checkout.orderId, invoice, accessToken }
}

const payoutsOf = ({ processor }: CheckoutWorld) =>
  [...processor.payouts.values()].map(({ reference, to, units, state }) => {
    return { reference, to, units, state }
  })

function returnsOf(checkout: Checkout) {
  return invoiced(checkout).returns.map(({ units, why, step }) => [units, why, step.type])
}

describe('a checkout that is paid as it was asked for', () => {
  test('becomes an order with its goods, which the same token opens', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice, accessToken } = await open(world)
    await world.live(minute)
    expect(await world.seen(id)).toMatchObject({ state: 'OPEN' })
    const { transaction } = world.processor.pay(invoice.id, invoice.units)
    await world.live(5 * minute)
    expect(await world.seen(id)).toMatchObject({ state: 'ORDERED', isPlaced: true })
    const order = await world.orders.find(orderId)
    expect(order).toMatchObject({
      state: 'FULFILLED',
      accessTokenHash: hashOf(accessToken),
      receipt: { rail: 'btcpay', transaction },
      settlement: 'FINAL',
      tender: { payer: 'BTC:btc-address-of-ada', units: invoice.units },
    })
    await world.live(48 * hour)
    expect(await world.seen(id)).toHaveProperty('closedAt')
    expect([payoutsOf(world), world.calls.filter((call) => call === 'place')]).toEqual([
      [],
      ['place'],
    ])
  })

  test('waits for the confirmations, however long after its time they come', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await open(world)
    world.processor.pay(invoice.id, invoice.units, { confirmed: false })
    await world.live(2 * hour)
    expect(await world.seen(id)).toMatchObject({ state: 'OPEN', invoice: { status: 'PROCESSING' } })
    world.processor.confirm(invoice.id)
    await world.live(minute)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
  })

  test('may be paid in parts', async () => {
    const world = checkoutWorld()
    const { orderId, invoice } = await open(world)
    world.processor.pay(invoice.id, invoice.units / 3n)
    await world.live(minute)
    world.processor.pay(invoice.id, invoice.units - invoice.units / 3n)
    await world.live(minute)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
    await world.live(48 * hour)
    expect(payoutsOf(world)).toEqual([])
  })

  test('and that is not delivered pays everything back, to the address that was given', async () => {
    const world = checkoutWorld({
      held: { outcome: 'declined', code: 'NO', reason: 'no' },
    })
    const { orderId, invoice } = await open(world)
    world.processor.pay(invoice.id, invoice.units)
    await world.live(hour)
    expect(await world.orders.find(orderId)).toMatchObject({
      state: 'FULFILLMENT_FAILED',
      refund: { step: 'REFUNDED' },
    })
    expect(payoutsOf(world)).toEqual([
      { reference: orderId, to: cardForm.refundTo, units: invoice.units, state: 'sent' },
    ])
  })
})

describe('money that is not the price goes back, to the address that was given', () => {
  test('too little', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await open(world)
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(minute)
    expect(payoutsOf(world)).toEqual([])
    await world.live(48 * hour)
    const checkout = await world.seen(id)
    expect([checkout.state, returnsOf(checkout)]).toEqual([
      'ENDED',
      [[invoice.units / 2n, 'underpaid', 'SENT']],
    ])
    expect(payoutsOf(world)).toEqual([
      { reference: `${id}-1`, to: cardForm.refundTo, units: invoice.units / 2n, state: 'sent' },
    ])
    expect(await world.orders.find(orderId)).toBeUndefined()
    expect(checkout).toHaveProperty('closedAt')
  })

  test('too much, and twice', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await open(world)
    world.processor.pay(invoice.id, invoice.units * 2n)
    await world.live(minute)
    world.processor.pay(invoice.id, invoice.units)
    await world.live(48 * hour)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
    expect(returnsOf(await world.seen(id))).toEqual([
      [invoice.units, 'surplus', 'SENT'],
      [invoice.units, 'surplus', 'SENT'],
    ])
  })

  test('too late', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await open(world)
    await world.live(hour)
    world.processor.pay(invoice.id, invoice.units, { late: true })
    await world.live(hour)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units, 'late', 'SENT']])
    expect(await world.orders.find(orderId)).toBeUndefined()
  })

  test('unless it is less than sending it costs', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await open(world)
    world.processor.pay(invoice.id, invoice.units + invoice.units / 100n)
    await world.live(48 * hour)
    expect(await world.seen(id)).toMatchObject({ state: 'ORDERED', returns: [] })
    expect(await world.seen(id)).toHaveProperty('closedAt')
  })

  test('when the processor sends it, and once however often it is asked', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await open(world)
    world.processor.rules.holdsPayouts = true
    world.processor.failNext('payOut', { fault: 'lost' })
    world.processor.failNext('payOut', { fault: 'unreached' })
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(3 * hour)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units / 2n, 'underpaid', 'SENDING']])
    world.processor.sendPayouts()
    await world.live(hour)
    expect(payoutsOf(world)).toHaveLength(1)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units / 2n, 'underpaid', 'SENT']])
  })

  test('only when the treasury lets it', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await open(world)
    world.treasury.rules.stoppedAt = 0
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(3 * hour)
    expect([payoutsOf(world), world.happenings[0]]).toEqual([
      [],
      { name: 'return_held', checkout: id, seq: 1, reason: 'stopped' },
    ])
    world.treasury.rules.stoppedAt = Infinity
    await world.live(hour)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units / 2n, 'underpaid', 'SENT']])
  })

  test('not above the cap, until an operator has looked', async () => {
    const world = checkoutWorld()
    world.treasury.rules.hour = 1n
    const { id, invoice } = await open(world)
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(3 * hour)
    expect(invoiced(await world.seen(id)).returns[0]?.step).toMatchObject({ code: 'over_cap' })
    expect(world.happenings).toEqual([
      { name: 'return_failed', checkout: id, seq: 1, reason: 'over_cap' },
    ])
    await world.live(48 * hour)
    expect(await world.seen(id)).not.toHaveProperty('closedAt')
  })

  test('by an operator where the processor cannot', async () => {
    const world = checkoutWorld()
    const form = { coin: 'XMR', refundTo: 'xmr-address-of-ada' }
    const { id, invoice } = await open(world, form)
    world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(3 * hour)
    const failed = invoiced(await world.seen(id))
    expect(failed.returns[0]?.step).toMatchObject({ type: 'FAILED', code: 'operator_pays' })
    world.notes.set(`${id}-1`, 'tx-by-hand')
    const returns = failed.returns.map((one) => ({ ...one, step: { type: 'DUE' } as const }))
    await world.checkouts.move(failed, { ...failed, returns })
    world.checkouts.endLease(id)
    await world.live(hour)
    expect(invoiced(await world.seen(id)).returns[0]?.step).toMatchObject({
      type: 'SENT',
      transaction: 'tx-by-hand',
    })
  })
})

describe('what is wrong outside', () => {
  test('an invoice whose answer was lost is found again: there is one', async () => {
    const world = checkoutWorld()
    world.processor.failNext('open', { fault: 'lost' })
    world.processor.failNext('open', { fault: 'unreached' })
    const { checkout } = await world.start()
    expect(checkout.state).toBe('OPENING')
    await world.live(minute)
    expect(await world.seen(checkout.id)).toMatchObject({ state: 'OPEN' })
    expect(world.processor.invoicesOf(checkout.id)).toHaveLength(1)
  })

  test('an invoice that the processor does not make in time is given up: it was shown to nobody', async () => {
    const world = checkoutWorld()
    for (let at = 0; at < 200; at += 1) world.processor.failNext('open', { fault: 'unreached' })
    const { checkout } = await world.start()
    await world.live(5 * minute)
    expect(await world.seen(checkout.id)).toMatchObject({ state: 'OPENING' })
    await world.live(10 * minute)
    expect(await world.seen(checkout.id)).toMatchObject({
      state: 'REFUSED',
      code: 'processor_silent',
    })
  })

  test('no address is shown on another network than the form said', async () => {
    const world = checkoutWorld()
    world.processor.failNext('open', { fault: 'unreached' })
    const { checkout } = await world.start({ coin: 'USDT', refundTo: 'usdt-address-of-ada' })
    expect(checkout).toMatchObject({ state: 'OPENING', network: 'Tron' })
    const deps = { ...world.deps, processor: { ...world.deps.processor, methods: [ether] } }
    world.clock.pass(minute)
    await sweepCheckouts(deps, 10)
    expect(await world.seen(checkout.id)).toMatchObject({
      state: 'REFUSED',
      code: 'coin_unavailable',
    })
  })

  test('an invoice that the processor refuses ends the checkout', async () => {
    const world = checkoutWorld()
    world.processor.failNext('open', { fault: 'refused', code: 'amount_too_small' })
    const { checkout } = await world.start()
    expect(checkout).toMatchObject({ state: 'REFUSED', code: 'amount_too_small' })
    await world.live(hour)
    expect(await world.seen(checkout.id)).toEqual(checkout)
  })

  test('a payment that was settled stays so, and an operator hears that it is denied', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await open(world)
    world.processor.pay(invoice.id, invoice.units * 2n)
    await world.live(minute)
    world.reading.read = async (name, coin) => {
      const answer = await world.processor.read(name, coin)
      if (answer.outcome === 'unknown') return answer
      return { ...answer, invoice: { ...answer.invoice, payments: [] } }
    }
    const before = await world.seen(id)
    await world.live(hour)
    expect(invoiced(await world.seen(id)).invoice.payments).toEqual(
      invoiced(before).invoice.payments,
    )
    expect(world.happenings).toContainEqual({ name: 'settled_payment_gone', checkout: id })
  })

  /** A reading in which these payments were never confirmed, because others replaced them. */
  function denying(world: CheckoutWorld, denied: readonly string[]) {
    world.reading.read = async (name, coin) => {
      const answer = await world.processor.read(name, coin)
      if (answer.outcome === 'unknown') return answer
      const payments = answer.invoice.payments.map((one) =>
        denied.includes(one.id) ? { ...one, status: 'INVALID' as const } : one,
      )
      return { ...answer, invoice: { ...answer.invoice, payments } }
    }
  }

  test('a payment that replaces one that was settled is not paid back besides the goods', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await open(world)
    const first = world.processor.pay(invoice.id, invoice.units)
    await world.live(minute)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
    denying(world, [first.id])
    world.processor.pay(invoice.id, invoice.units)
    await world.live(48 * hour)
    expect(payoutsOf(world)).toEqual([])
    expect(world.happenings).toContainEqual({ name: 'settled_payment_gone', checkout: id })
    expect(await world.seen(id)).not.toHaveProperty('closedAt')
  })

  test('what is denied before it goes back waits for an operator, until it is there again', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await open(world)
    world.treasury.rules.stoppedAt = 0
    const { id: payment, units } = world.processor.pay(invoice.id, invoice.units / 2n)
    await world.live(2 * hour)
    denying(world, [payment])
    await world.live(hour)
    world.treasury.rules.stoppedAt = Infinity
    await world.live(2 * hour)
    const held = invoiced(await world.seen(id))
    expect(held.returns[0]?.step).toMatchObject({ type: 'FAILED', code: 'payment_vanished' })
    expect(payoutsOf(world)).toEqual([])
    world.reading.read = world.processor.read
    world.checkouts.endLease(id)
    await retryReturn(world.checkouts, held, 1)
    await world.live(hour)
    expect(returnsOf(await world.seen(id))).toEqual([[units, 'underpaid', 'SENT']])
  })

  test('an invoice called settled without a payment opens no order', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await open(world)
    world.reading.read = async () => {
      return { outcome: 'found', invoice: { ...invoice, status: 'SETTLED' } }
    }
    await world.live(hour)
    expect(await world.seen(id)).toMatchObject({ state: 'OPEN' })
    await world.live(48 * hour)
    expect(await world.seen(id)).toMatchObject({ state: 'ENDED' })
    expect(await world.orders.find(orderId)).toBeUndefined()
  })
})

describe('how often an invoice is read', () => {
  /** Counts the looks at the processor from now on. */
  function counting(world: CheckoutWorld) {
    const { read } = world.reading
    let looks = 0
    world.reading.read = (...asked) => {
      looks += 1
      return read(...asked)
    }
    return () => looks
  }

  test('seldom when nobody paid it, and what comes late still goes back', async () => {
    const world = checkoutWorld()
    world.processor.rules.watchedForMs = 7 * 24 * hour
    const { id, invoice } = await open(world)
    await world.live(hour)
    const looks = counting(world)
    await world.live(6 * 24 * hour)
    expect(looks()).toBeLessThan(170)
    world.processor.pay(invoice.id, invoice.units, { late: true })
    await world.live(2 * hour)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units, 'late', 'SENT']])
  })

  test('every few minutes while a payment waits for its confirmations', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await open(world)
    await world.live(10 * hour)
    world.processor.pay(invoice.id, invoice.units, { late: true, confirmed: false })
    await world.live(hour)
    world.processor.confirm(invoice.id)
    await world.live(3 * minute)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units, 'late', 'SENT']])
  })
})

describe('the form', () => {
  test('sent twice is one checkout, with the same token', async () => {
    const world = checkoutWorld()
    const [one, two] = await Promise.all([world.start(), world.start()])
    const three = await world.start()
    expect(new Set([one.checkout.id, two.checkout.id, three.checkout.id]).size).toBe(1)
    expect(new Set([one.accessToken, two.accessToken, three.accessToken]).size).toBe(1)
    await world.live(minute)
    expect(world.processor.invoicesOf(one.checkout.id)).toHaveLength(1)
  })

  test('that was changed is another checkout', async () => {
    const world = checkoutWorld()
    const one = await world.start()
    const changes: Partial<CheckoutForm>[] = [
      { formKey: 'b'.repeat(32) },
      { coin: 'LTC', refundTo: 'ltc-address-of-ada' },
      { refundTo: 'btc-address-of-bob' },
      { fields: { ...cardForm.fields, firstName: 'Bob' } },
    ]
    for (const change of changes) {
      const other = await world.start(change)
      expect(other.checkout.id).not.toBe(one.checkout.id)
      expect(other.accessToken).not.toBe(one.accessToken)
    }
  })

  test('names every fault at once', async () => {
    const world = checkoutWorld()
    const fields = { offerId: 'OPEN', firstName: 'Ada', value: -1 }
    const bad = world.start({ fields, coin: 'BTC', refundTo: 'ltc-address', formKey: 'short' })
    await expect(bad).rejects.toMatchObject({
      code: 'invalid_body',
      details: {
        errors: ['lastName', 'value', 'refundTo', 'formKey'].map((parameter) =>
          expect.objectContaining({ parameter }),
        ),
      },
    })
    await expect(world.start({ coin: 'DOGE' })).rejects.toThrow(
      'coin must be one of BTC, ETH, USDT, LTC, XMR',
    )
    expect(world.checkouts.history).toEqual([])
  })

  test('is turned down while the store is paused', async () => {
    const world = checkoutWorld()
    world.says.action = 'stop'
    await expect(world.start()).rejects.toThrow(Refusal)
    expect(world.checkouts.history).toEqual([])
  })

  test('of another plan for an eSIM that nobody knows is turned down', async () => {
    const world = checkoutWorld()
    const fields = { offerId: 'PLAN', iccid: '8901234567890123456' }
    await expect(world.start({ kind: 'esim', fields })).rejects.toThrow('iccid')
  })
})
