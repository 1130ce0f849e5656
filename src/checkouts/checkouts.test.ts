import { describe, expect, test } from 'vitest'
import { cardForm, checkoutWorld } from '../../test/doubles/checkouts.ts'
import { sweepCheckouts } from '../../test/model/sweep.ts'
import { hashOf } from '../secrets/secrets.ts'
import { day, declining, hour, minute, openSale } from './sale.fixture.ts'

const ether = { coin: 'USDT', network: 'Ethereum' } as const

describe('a checkout that is paid as it was asked for', () => {
  test('becomes an order with its goods, which the same token opens', async () => {
    const sale = await openSale()
    const { accessToken, calls, isClosed, live, order, pay, payouts, seen, units } = sale
    await live(minute)
    expect(await seen()).toMatchObject({ state: 'OPEN' })
    const { transaction } = pay(units)
    await live(5 * minute)
    expect(await seen()).toMatchObject({ state: 'ORDERED', isPlaced: true })
    expect(await order()).toMatchObject({
      state: 'FULFILLED',
      accessTokenHash: hashOf(accessToken),
      receipt: { method: 'btcpay', transaction },
      settlement: 'FINAL',
      payment: { payer: 'BTC:btc-address-of-ada', units },
    })
    await live(48 * hour)
    expect(await isClosed()).toBe(true)
    expect([payouts(), calls.filter((call) => call === 'place')]).toEqual([[], ['place']])
  })

  test('waits for the confirmations, however long after its time they come', async () => {
    const { invoice, live, order, pay, processor, seen, units } = await openSale()
    pay(units, { confirmed: false })
    await live(2 * hour)
    expect(await seen()).toMatchObject({ state: 'OPEN', invoice: { status: 'PROCESSING' } })
    processor.confirm(invoice.id)
    await live(minute)
    expect(await order()).toMatchObject({ state: 'FULFILLED' })
  })

  test('may be paid in parts', async () => {
    const { live, order, pay, payouts, units } = await openSale()
    pay(units / 3n)
    await live(minute)
    pay(units - units / 3n)
    await live(minute)
    expect(await order()).toMatchObject({ state: 'FULFILLED' })
    await live(48 * hour)
    expect(payouts()).toEqual([])
  })

  test('shows the address that the processor shows now, and stays the holder of all of them', async () => {
    const { answers, checkouts, id, invoice, live, order, pay, processor, seen, shows, units } =
      await openSale({ coin: 'XMR', refundTo: 'xmr-address-of-ada' })
    pay(units / 2n)
    const [part = invoice] = processor.invoicesOf(id)
    const moved = { address: 'Second', addresses: ['Second'], paymentLink: 'monero:Second' }
    answers({ outcome: 'found', invoice: { ...part, ...moved, due: 9n } })
    await live(minute)
    expect((await seen()).invoice).toMatchObject({
      ...{ address: 'Second', paymentLink: 'monero:Second', due: 9n, units },
      addresses: [invoice.address, 'Second'],
    })
    for (const address of [invoice.address, 'second']) {
      expect(await checkouts.findByAddress(address)).toMatchObject({ id })
      expect(await checkouts.holderOf('XMR', address)).toMatchObject({ id })
    }
    shows()
    pay(units - units / 2n)
    await live(minute)
    expect(await order()).toMatchObject({ state: 'FULFILLED' })
  })

  test('and that is not delivered pays everything back, to the address that was given', async () => {
    const sale = await openSale({}, checkoutWorld(declining))
    const { live, order, orderId: reference, pay, payouts, units } = sale
    pay(units)
    await live(hour)
    const paidBack = { state: 'FULFILLMENT_FAILED', payout: { state: 'CONFIRMED' } }
    expect(await order()).toMatchObject(paidBack)
    expect(payouts()).toEqual([{ reference, to: cardForm.refundTo, units, state: 'sent' }])
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
    const refused = { state: 'REFUSED', code: 'processor_silent' }
    expect(await world.seen(checkout.id)).toMatchObject(refused)
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
    const refused = { state: 'REFUSED', code: 'coin_unavailable' }
    expect(await world.seen(checkout.id)).toMatchObject(refused)
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
    const { live, order, pay, processor, reading, seen, units } = await openSale()
    if (part > 0n) pay(units / part)
    reading.read = async (...asked) => {
      const answer = await processor.read(...asked)
      if (answer.outcome === 'unknown') return answer
      return { ...answer, invoice: { ...answer.invoice, status: 'SETTLED' } }
    }
    await live(hour)
    expect(await seen()).toMatchObject({ state: 'OPEN' })
    await live(48 * hour)
    expect(await seen()).toMatchObject({ state: 'ENDED' })
    expect(await order()).toBeUndefined()
  })
})

describe('how often an invoice is read', () => {
  test('seldom when nobody paid it, and what comes late still goes back', async () => {
    const world = checkoutWorld()
    world.processor.rules.watchedForMs = 7 * day
    const { live, pay, returns, shows, units } = await openSale({}, world)
    await live(hour)
    let looks = 0
    shows((all) => {
      looks += 1
      return all
    })
    await live(6 * day)
    expect(looks).toBeLessThan(170)
    pay(units, { late: true })
    await live(2 * hour)
    expect(await returns()).toEqual([[units, 'late', 'CONFIRMED']])
  })

  test('every few minutes while a payment waits for its confirmations', async () => {
    const { invoice, live, pay, processor, returns, units } = await openSale()
    await live(10 * hour)
    pay(units, { late: true, confirmed: false })
    await live(hour)
    processor.confirm(invoice.id)
    await live(3 * minute)
    expect(await returns()).toEqual([[units, 'late', 'CONFIRMED']])
  })
})
