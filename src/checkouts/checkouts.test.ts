import { describe, expect, test } from 'vitest'
import {
  type CheckoutWorld,
  cardForm,
  checkoutWorld,
  openCheckout,
  payoutsOf,
  returnsOf,
} from '../../test/doubles/checkouts.ts'
import { sweepCheckouts } from '../../test/model/sweep.ts'
import { hashOf } from '../secrets/tokens.ts'

const minute = 60_000
const hour = 60 * minute
const ether = { coin: 'USDT', network: 'Ethereum' } as const

describe('a checkout that is paid as it was asked for', () => {
  test('becomes an order with its goods, which the same token opens', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice, accessToken } = await openCheckout(world)
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
    const { id, orderId, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, invoice.units, { confirmed: false })
    await world.live(2 * hour)
    expect(await world.seen(id)).toMatchObject({ state: 'OPEN', invoice: { status: 'PROCESSING' } })
    world.processor.confirm(invoice.id)
    await world.live(minute)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
  })

  test('may be paid in parts', async () => {
    const world = checkoutWorld()
    const { orderId, invoice } = await openCheckout(world)
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
    const { orderId, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, invoice.units)
    await world.live(hour)
    expect(await world.orders.find(orderId)).toMatchObject({
      state: 'FULFILLMENT_FAILED',
      payout: { state: 'CONFIRMED' },
    })
    expect(payoutsOf(world)).toEqual([
      { reference: orderId, to: cardForm.refundTo, units: invoice.units, state: 'sent' },
    ])
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

  test('an invoice that the processor has not made in time is given up as soon as it says so', async () => {
    const world = checkoutWorld()
    for (let at = 0; at < 80; at += 1) world.processor.failNext('open', { fault: 'unreached' })
    const { checkout } = await world.start()
    await world.live(11 * minute)
    expect(await world.seen(checkout.id)).toMatchObject({ state: 'OPENING' })
    await world.live(10 * minute)
    expect(await world.seen(checkout.id)).toMatchObject({
      state: 'REFUSED',
      code: 'processor_silent',
    })
    expect(world.processor.invoicesOf(checkout.id)).toEqual([])
  })

  test('an invoice is looked for before its checkout is given up, as after a restored backup', async () => {
    const world = checkoutWorld()
    world.processor.failNext('open', { fault: 'lost' })
    const { checkout } = await world.start()
    const [invoice] = world.processor.invoicesOf(checkout.id)
    if (!invoice) throw new Error('The processor made no invoice')
    world.processor.pay(invoice.id, invoice.units)
    world.clock.pass(11 * minute)
    world.processor.failNext('open', { fault: 'unreached' })
    await world.live(1_000)
    expect(await world.seen(checkout.id)).toMatchObject({ state: 'OPENING' })
    await world.live(minute)
    expect(await world.orders.find(checkout.orderId)).toMatchObject({ state: 'FULFILLED' })
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

  test.each([
    ['without a payment', 0n],
    ['by a hundredth of its price', 100n],
  ])('an invoice called settled %s opens no order', async (_, part) => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await openCheckout(world)
    if (part > 0n) world.processor.pay(invoice.id, invoice.units / part)
    world.reading.read = async (...asked) => {
      const answer = await world.processor.read(...asked)
      if (answer.outcome === 'unknown') return answer
      return { ...answer, invoice: { ...answer.invoice, status: 'SETTLED' } }
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
    const { id, invoice } = await openCheckout(world)
    await world.live(hour)
    const looks = counting(world)
    await world.live(6 * 24 * hour)
    expect(looks()).toBeLessThan(170)
    world.processor.pay(invoice.id, invoice.units, { late: true })
    await world.live(2 * hour)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units, 'late', 'CONFIRMED']])
  })

  test('every few minutes while a payment waits for its confirmations', async () => {
    const world = checkoutWorld()
    const { id, invoice } = await openCheckout(world)
    await world.live(10 * hour)
    world.processor.pay(invoice.id, invoice.units, { late: true, confirmed: false })
    await world.live(hour)
    world.processor.confirm(invoice.id)
    await world.live(3 * minute)
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units, 'late', 'CONFIRMED']])
  })
})
