import { describe, expect, test } from 'vitest'
import {
  checkoutWorld,
  invoiced,
  openCheckout,
  payoutsOf,
  returnsOf,
} from '../../test/doubles/checkouts.ts'

/** The price of the card that these checkouts buy, in atomic USDC. */
const cardPrice = 20_000_000n
const minute = 60_000
const hour = 60 * minute

/** A processor with three addresses, which it assigns again as soon as no invoice waits there. */
function pooled() {
  const world = checkoutWorld()
  world.processor.rules.addresses = ['btc-address-1', 'btc-address-2', 'btc-address-3']
  return world
}

const another = (letter: string) => ({ formKey: letter.repeat(32) })

describe('an address that was shown for a checkout', () => {
  test('is shown for no other one until that checkout is closed for good', async () => {
    const world = pooled()
    const first = await openCheckout(world)
    await world.live(hour)
    expect(await world.seen(first.id)).toMatchObject({ state: 'ENDED' })

    // The processor keeps the address for the invoice that is passed over, and has another one.
    const second = await openCheckout(world, another('b'))
    expect(second.invoice.address).toBe('btc-address-2')
    expect(world.processor.invoicesOf(second.id)).toHaveLength(2)
    expect(world.events).toEqual([])

    await world.live(48 * hour)
    expect(await world.seen(first.id)).toHaveProperty('closedAt')
    const third = await openCheckout(world, another('c'))
    expect(third.invoice.address).toBe(first.invoice.address)
  })

  /** A processor with `addresses` addresses, of which `held` were shown for checkouts that are over. */
  async function heldOf(addresses: number, held: number) {
    const world = checkoutWorld()
    const all = Array.from({ length: addresses }, (_, at) => `btc-address-${at}`)
    world.processor.rules.addresses = all
    for (let at = 0; at < held; at += 1) await openCheckout(world, another(letters[at] ?? ''))
    await world.live(hour)
    return { world, all }
  }
  const letters = [...'abcdefghijklmnopqrstuvwxyz']
  const openInvoices = ({ processor }: ReturnType<typeof checkoutWorld>, checkout: string) =>
    processor.invoicesOf(checkout).filter(({ status }) => status === 'NEW')

  test.each([1, 9, 10, 11, 25])(
    'is passed over for the next while there is one: %d of 26 are held',
    async (held) => {
      const { world, all } = await heldOf(26, held)
      const { checkout } = await world.start(another('Z'))
      await world.live(minute)
      const open = invoiced(await world.seen(checkout.id))
      expect(open).toMatchObject({ state: 'OPEN', invoice: { address: all[held] } })
      expect(open).not.toHaveProperty('hasOthers')
      expect(openInvoices(world, checkout.id)).toEqual([open.invoice])
      expect(world.events).toEqual([])
    },
  )

  test.each([5, 10, 12])(
    'is refused when all %d are held, and keeps no address from anybody',
    async (held) => {
      const { world } = await heldOf(held, held)
      const { checkout } = await world.start(another('Z'))
      await world.live(minute)
      const { id } = checkout
      expect(await world.seen(id)).toMatchObject({ state: 'REFUSED', code: 'address_taken' })
      expect(await world.seen(id)).not.toHaveProperty('refusal')
      expect(openInvoices(world, id)).toEqual([])
      expect(world.events).toEqual([
        { name: 'address_taken', checkout: id, coin: 'BTC', holder: expect.any(String) },
      ])
    },
  )

  test('is free when its buyer has paid and its time is over, where nobody sees late money', async () => {
    const world = checkoutWorld()
    world.processor.rules.addresses = ['usdt-address-1']
    const pay = { coin: 'USDT', refundTo: 'usdt-address-of-ada' }
    const paid = await openCheckout(world, pay)
    world.processor.pay(paid.invoice.id, paid.invoice.units)
    await world.live(20 * minute)
    expect(await world.seen(paid.id)).not.toHaveProperty('closedAt')
    await world.live(40 * minute)
    expect(await world.seen(paid.id)).toMatchObject({
      state: 'ORDERED',
      closedAt: expect.any(Date),
    })
    const unpaid = await openCheckout(world, { ...pay, ...another('b') })
    expect(unpaid.invoice.address).toBe(paid.invoice.address)
    await world.live(23 * hour)
    expect(await world.seen(unpaid.id)).not.toHaveProperty('closedAt')
  })

  test('pays its own checkout when the money comes late, and no other', async () => {
    const world = pooled()
    const late = await openCheckout(world)
    await world.live(hour)
    const other = await world.start(another('b'))
    world.processor.pay(late.invoice.id, late.invoice.units, { late: true })
    await world.live(hour)
    expect(returnsOf(await world.seen(late.id))).toEqual([
      [late.invoice.units, 'late', 'CONFIRMED'],
    ])
    expect(payoutsOf(world)).toHaveLength(1)
    expect(await world.orders.find(other.checkout.orderId)).toBeUndefined()
  })

  test('is not shown to another who looked a moment too early', async () => {
    const world = pooled()
    const { holderOf } = world.checkouts
    const first = await openCheckout(world)
    await world.live(hour)
    // As if the other checkout had not been on record yet.
    world.deps.checkouts.holderOf = async () => undefined
    const { checkout } = await world.start(another('b'))
    expect(checkout.state).toBe('OPENING')
    expect(world.events).toContainEqual(
      expect.objectContaining({ name: 'checkout_step_failed', checkout: checkout.id }),
    )
    world.deps.checkouts.holderOf = holderOf
    await world.live(2 * minute)
    expect(await world.seen(checkout.id)).toMatchObject({
      state: 'OPEN',
      invoice: { address: 'btc-address-2' },
    })
    expect(await world.seen(first.id)).toMatchObject({ state: 'ENDED' })
  })
})

describe('dust that somebody sends', () => {
  test('counts, is kept as one payment, and hides nothing of what else was paid', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await openCheckout(world)
    const dust = (invoice.units * 50_000n) / cardPrice - 1n
    const send = (count: number) => {
      for (let at = 0; at < count; at += 1) world.processor.pay(invoice.id, dust)
    }
    send(300)
    await world.live(minute)
    send(200)
    world.processor.pay(invoice.id, invoice.units)
    await world.live(hour)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
    expect(invoiced(await world.seen(id)).invoice.payments).toHaveLength(2)
    expect(payoutsOf(world)).toMatchObject([{ units: 500n * dust, state: 'sent' }])
    expect(world.events).toEqual([])
  })
})

describe('a payment that never gets its confirmations', () => {
  test('is told to an operator once, and holds its checkout for three days', async () => {
    const world = pooled()
    const { id, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, invoice.units / 2n, { confirmed: false })
    const told = () => world.events.filter(({ name }) => name === 'payment_unconfirmed')
    await world.live(23 * hour)
    expect(told()).toEqual([])
    await world.live(2 * hour)
    expect(told()).toEqual([{ name: 'payment_unconfirmed', checkout: id }])
    await world.live(2 * 24 * hour)
    expect(await world.seen(id)).not.toHaveProperty('closedAt')
    await world.live(2 * 24 * hour)
    expect(await world.seen(id)).toMatchObject({ state: 'ENDED', closedAt: expect.any(Date) })
    expect(told()).toHaveLength(1)
  })
})

describe('an invoice that the processor has forgotten', () => {
  const told = (world: ReturnType<typeof checkoutWorld>) =>
    world.events.filter(({ name }) => name === 'invoice_gone')

  /** The processor answers, and knows none of its invoices. */
  const forget = (world: ReturnType<typeof checkoutWorld>) => {
    const { read } = world.reading
    const reason = 'there is no such invoice'
    world.reading.read = async () => ({ outcome: 'unknown', reason, isGone: true })
    return () => {
      world.reading.read = read
    }
  }

  test.each([
    ['that nobody has paid', 'OPEN', 0n],
    ['that was paid in part', 'OPEN', 2n],
    ['that became an order', 'ORDERED', 1n],
  ] as const)('closes no checkout %s, and is told to an operator once', async (_, state, part) => {
    const world = checkoutWorld()
    const { id, invoice } = await openCheckout(world)
    if (part > 0n) world.processor.pay(invoice.id, invoice.units / part)
    await world.live(minute)
    forget(world)
    await world.live(30 * 24 * hour)
    expect(await world.seen(id)).toMatchObject({ state })
    expect(await world.seen(id)).not.toHaveProperty('closedAt')
    expect(told(world)).toEqual([{ name: 'invoice_gone', checkout: id }])
  })

  test('is gone on with when the processor shows it again', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await openCheckout(world)
    world.processor.pay(invoice.id, 2n * invoice.units, { confirmed: false })
    await world.live(minute)
    const remember = forget(world)
    await world.live(hour)
    world.processor.confirm(invoice.id)
    remember()
    await world.live(2 * hour)
    expect(await world.orders.find(orderId)).toMatchObject({ state: 'FULFILLED' })
    expect(returnsOf(await world.seen(id))).toEqual([[invoice.units, 'surplus', 'CONFIRMED']])
    expect(await world.seen(id)).not.toHaveProperty('goneAt')
    await world.live(10 * 24 * hour)
    expect(await world.seen(id)).toHaveProperty('closedAt')
  })

  test('is no outage: a processor that does not answer is not told as one that forgot', async () => {
    const world = checkoutWorld()
    const { id } = await openCheckout(world)
    world.reading.read = async () => ({ outcome: 'unknown', reason: 'nobody answers' })
    await world.live(2 * 24 * hour)
    expect(await world.seen(id)).not.toHaveProperty('closedAt')
    expect(told(world)).toEqual([])
  })
})

describe('an invoice that cannot be read', () => {
  const told = (world: ReturnType<typeof checkoutWorld>) =>
    world.events.filter(({ name }) => name === 'invoice_unread')

  test('is told to an operator once, after an hour, and gone on with when it is read', async () => {
    const world = checkoutWorld()
    const { id, orderId, invoice } = await openCheckout(world)
    const { read } = world.reading
    const lose = () => {
      world.reading.read = async () => ({ outcome: 'unknown', reason: 'contradicts itself' })
    }
    lose()
    await world.live(50 * minute)
    expect(told(world)).toEqual([])
    await world.live(5 * hour)
    expect(told(world)).toEqual([{ name: 'invoice_unread', checkout: id }])

    world.processor.pay(invoice.id, 2n * invoice.units)
    world.reading.read = read
    await world.live(2 * hour)
    expect(await world.seen(id)).not.toHaveProperty('unreadSince')
    expect(await world.seen(id)).not.toHaveProperty('unreadToldAt')
    expect(returnsOf(await world.seen(id))).toEqual([[2n * invoice.units, 'late', 'CONFIRMED']])
    expect(await world.orders.find(orderId)).toBeUndefined()

    lose()
    await world.live(3 * hour)
    expect(told(world)).toHaveLength(2)
  })

  test('for some minutes is told to nobody', async () => {
    const world = checkoutWorld()
    await openCheckout(world)
    for (let at = 0; at < 12; at += 1) {
      world.processor.failNext('read', { fault: 'unreached' })
      await world.live(20 * minute)
    }
    expect(told(world)).toEqual([])
  })
})
