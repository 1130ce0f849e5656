import { describe, expect, test } from 'vitest'
import { checkoutWorld, invoiced } from '../../test/doubles/checkouts.ts'
import { day, hour, minute, openSale } from './sale.fixture.ts'

/** The price of the card that these checkouts buy, in atomic USDC. */
const cardPrice = 20_000_000n
const gone = { outcome: 'unknown', reason: 'there is no such invoice', isGone: true } as const

/** A processor with so many addresses, which it assigns again as soon as no invoice waits there. */
function pooled(addresses = 3) {
  const world = checkoutWorld()
  const all = Array.from({ length: addresses }, (_, at) => `btc-address-${at}`)
  world.processor.rules.addresses = all
  return { world, all }
}

const another = (letter: string) => ({ formKey: letter.repeat(32) })

describe('an address that was shown for a checkout', () => {
  test('is shown for no other one until that checkout is closed for good', async () => {
    const { world } = pooled()
    const first = await openSale({}, world)
    await world.live(hour)
    expect(await first.seen()).toMatchObject({ state: 'ENDED' })

    // The processor keeps the address for the invoice that is passed over, and has another one.
    const second = await openSale(another('b'), world)
    expect(second.invoice.address).toBe('btc-address-1')
    expect(world.processor.invoicesOf(second.id)).toHaveLength(2)
    expect(world.events).toEqual([])

    await world.live(48 * hour)
    expect(await first.isClosed()).toBe(true)
    const third = await openSale(another('c'), world)
    expect(third.invoice.address).toBe(first.invoice.address)
  })

  /** A checkout at a processor whose first addresses were shown for checkouts that are over. */
  async function beyond(addresses: number, held: number) {
    const { world, all } = pooled(addresses)
    for (let at = 0; at < held; at += 1) {
      await openSale(another(String.fromCodePoint(97 + at)), world)
    }
    await world.live(hour)
    const { checkout } = await world.start(another('Z'))
    await world.live(minute)
    const invoices = world.processor.invoicesOf(checkout.id)
    const open = invoices.filter(({ status }) => status === 'NEW')
    return { world, free: all[held], open, checkout: await world.seen(checkout.id) }
  }

  test.each([1, 9, 10, 11, 25])(
    'is passed over for the next while there is one: %d of 26 are held',
    async (held) => {
      const { checkout, free, open, world } = await beyond(26, held)
      expect(checkout).toMatchObject({ state: 'OPEN', invoice: { address: free } })
      expect(checkout).not.toHaveProperty('hasOthers')
      expect(open).toEqual([invoiced(checkout).invoice])
      expect(world.events).toEqual([])
    },
  )

  test.each([5, 10, 12])(
    'is refused when all %d are held, and keeps no address from anybody',
    async (held) => {
      const { checkout, open, world } = await beyond(held, held)
      expect(checkout).toMatchObject({ state: 'REFUSED', code: 'address_taken' })
      expect(checkout).not.toHaveProperty('refusal')
      expect(open).toEqual([])
      expect(world.events).toEqual([
        { name: 'address_taken', checkout: checkout.id, coin: 'BTC', holder: expect.any(String) },
      ])
    },
  )

  test('is free when its buyer has paid and its time is over, where nobody sees late money', async () => {
    const { world } = pooled()
    world.processor.rules.addresses = ['usdt-address-1']
    const form = { coin: 'USDT', refundTo: 'usdt-address-of-ada' }
    const paid = await openSale(form, world)
    paid.pay(paid.units)
    await world.live(20 * minute)
    expect(await paid.isClosed()).toBe(false)
    await world.live(40 * minute)
    expect(await paid.seen()).toMatchObject({ state: 'ORDERED', closedAt: expect.any(Date) })
    const unpaid = await openSale({ ...form, ...another('b') }, world)
    expect(unpaid.invoice.address).toBe(paid.invoice.address)
    await world.live(23 * hour)
    expect(await unpaid.isClosed()).toBe(false)
  })

  test('pays its own checkout when the money comes late, and no other', async () => {
    const { world } = pooled()
    const late = await openSale({}, world)
    await world.live(hour)
    const other = await openSale(another('b'), world)
    late.pay(late.units, { late: true })
    await world.live(hour)
    expect(await late.returns()).toEqual([[late.units, 'late', 'CONFIRMED']])
    expect(late.payouts()).toHaveLength(1)
    expect(await other.order()).toBeUndefined()
  })

  test('is not shown to another who looked a moment too early', async () => {
    const { world } = pooled()
    const { holderOf } = world.checkouts
    const first = await openSale({}, world)
    await world.live(hour)
    // As if the other checkout had not been on record yet.
    world.deps.checkouts.holderOf = async () => undefined
    const { checkout } = await world.start(another('b'))
    expect(checkout.state).toBe('OPENING')
    const failed = { name: 'checkout_step_failed', checkout: checkout.id }
    expect(world.events).toContainEqual(expect.objectContaining(failed))
    world.deps.checkouts.holderOf = holderOf
    await world.live(2 * minute)
    const shown = { state: 'OPEN', invoice: { address: 'btc-address-1' } }
    expect(await world.seen(checkout.id)).toMatchObject(shown)
    expect(await first.seen()).toMatchObject({ state: 'ENDED' })
  })
})

test('dust that somebody sends is kept as one payment, and hides nothing of what else was paid', async () => {
  const { events, live, order, pay, payouts, seen, units } = await openSale()
  const dust = (units * 50_000n) / cardPrice - 1n
  for (let at = 0; at < 300; at += 1) pay(dust)
  await live(minute)
  for (let at = 0; at < 200; at += 1) pay(dust)
  pay(units)
  await live(hour)
  expect(await order()).toMatchObject({ state: 'FULFILLED' })
  expect((await seen()).invoice.payments).toHaveLength(2)
  expect(payouts()).toMatchObject([{ units: 500n * dust, state: 'sent' }])
  expect(events).toEqual([])
})

test('a payment that never gets its confirmations is told once, and holds its checkout three days', async () => {
  const { id, isClosed, live, pay, seen, told, units } = await openSale()
  pay(units / 2n, { confirmed: false })
  await live(23 * hour)
  expect(told('payment_unconfirmed')).toEqual([])
  await live(2 * hour)
  expect(told('payment_unconfirmed')).toEqual([{ name: 'payment_unconfirmed', checkout: id }])
  await live(2 * day)
  expect(await isClosed()).toBe(false)
  await live(2 * day)
  expect(await seen()).toMatchObject({ state: 'ENDED', closedAt: expect.any(Date) })
  expect(told('payment_unconfirmed')).toHaveLength(1)
})

describe('an invoice that the processor has forgotten', () => {
  test.each([
    ['that nobody has paid', 'OPEN', 0n],
    ['that was paid in part', 'OPEN', 2n],
    ['that became an order', 'ORDERED', 1n],
  ] as const)('closes no checkout %s, and is told to an operator once', async (_, state, part) => {
    const { answers, id, isClosed, live, pay, seen, told, units } = await openSale()
    if (part > 0n) pay(units / part)
    await live(minute)
    answers(gone)
    await live(30 * day)
    expect(await seen()).toMatchObject({ state })
    expect(await isClosed()).toBe(false)
    expect(told('invoice_gone')).toEqual([{ name: 'invoice_gone', checkout: id }])
  })

  test('is gone on with when the processor shows it again', async () => {
    const sale = await openSale()
    const { invoice, isClosed, live, order, pay, processor, returns, seen, units } = sale
    pay(2n * units, { confirmed: false })
    await live(minute)
    sale.answers(gone)
    await live(hour)
    processor.confirm(invoice.id)
    sale.shows()
    await live(2 * hour)
    expect(await order()).toMatchObject({ state: 'FULFILLED' })
    expect(await returns()).toEqual([[units, 'surplus', 'CONFIRMED']])
    expect(await seen()).not.toHaveProperty('goneAt')
    await live(10 * day)
    expect(await isClosed()).toBe(true)
  })

  test('is no outage: a processor that does not answer is not told as one that forgot', async () => {
    const { answers, isClosed, live, told } = await openSale()
    answers({ outcome: 'unknown', reason: 'nobody answers' })
    await live(2 * day)
    expect(await isClosed()).toBe(false)
    expect(told('invoice_gone')).toEqual([])
  })
})

describe('an invoice that cannot be read', () => {
  test('is told to an operator once, after an hour, and gone on with when it is read', async () => {
    const { answers, id, live, order, pay, returns, seen, shows, told, units } = await openSale()
    const unread = { outcome: 'unknown', reason: 'contradicts itself' } as const
    answers(unread)
    await live(50 * minute)
    expect(told('invoice_unread')).toEqual([])
    await live(5 * hour)
    expect(told('invoice_unread')).toEqual([{ name: 'invoice_unread', checkout: id }])

    pay(2n * units)
    shows()
    await live(2 * hour)
    expect(await seen()).not.toHaveProperty('unreadSince')
    expect(await seen()).not.toHaveProperty('unreadToldAt')
    expect(await returns()).toEqual([[2n * units, 'late', 'CONFIRMED']])
    expect(await order()).toBeUndefined()

    answers(unread)
    await live(3 * hour)
    expect(told('invoice_unread')).toHaveLength(2)
  })

  test('for some minutes is told to nobody', async () => {
    const { live, processor, told } = await openSale()
    for (let at = 0; at < 12; at += 1) {
      processor.failNext('read', { fault: 'unreached' })
      await live(20 * minute)
    }
    expect(told('invoice_unread')).toEqual([])
  })
})
