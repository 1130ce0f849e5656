import { describe, expect, test } from 'vitest'
import { cardForm, checkoutWorld, invoiced } from '../../test/doubles/checkouts.ts'
import { budgetRules } from '../orders/budgets.ts'
import { type CheckoutForm, startCheckout } from './start.ts'

const hour = 3_600_000
/** One order of a wallet or of a receiver may fail, and four of a client. */
const budgets = budgetRules({ unpaid_payments: 100, failed_orders: 1 })

/** A store whose supplier declines everything. */
function strictWorld() {
  const world = checkoutWorld({ held: { outcome: 'declined', code: 'NO', reason: 'no' } })
  let count = 0

  /** Sends another form, with another refund address. */
  function start(form: Partial<CheckoutForm> = {}) {
    count += 1
    const own = { refundTo: `btc-address-${count}`, formKey: String(count).padStart(32, 'k') }
    return startCheckout({ ...world.deps, budgets }, { ...cardForm, ...own, ...form })
  }

  async function fail(form: Partial<CheckoutForm> = {}) {
    const { checkout } = await start(form)
    const { invoice } = invoiced(checkout)
    world.processor.pay(invoice.id, invoice.units)
    await world.live(60_000)
    expect(await world.orders.find(checkout.orderId)).toMatchObject({ state: 'FULFILLMENT_FAILED' })
    return checkout
  }

  return { ...world, start, fail }
}

const spent = (whose: string) => ({
  code: 'budget_spent',
  details: { extra: { budget: 'failed_orders', whose } },
})

describe('orders in coins that were paid back', () => {
  test('count for their client, whatever address they are paid back to', async () => {
    const world = strictWorld()
    const client = '192.0.2.1'
    for (let order = 0; order < 4; order += 1) await world.fail({ client })
    const before = world.checkouts.history.length
    await expect(world.start({ client })).rejects.toMatchObject(spent('client'))
    expect(world.checkouts.history).toHaveLength(before)
    await world.start({ client: '192.0.2.2' })
    await world.live(hour)
    await world.start({ client })
  })

  test('count for the address that they are paid back to', async () => {
    const world = strictWorld()
    const { refundTo } = await world.fail()
    await expect(world.start({ refundTo })).rejects.toMatchObject(spent('payer'))
  })

  test('count for their receiver, whatever was bought', async () => {
    const world = strictWorld()
    const email = 'ada@example.com'
    await world.fail({ fields: { ...cardForm.fields, email } })
    const open = { offerId: 'OPEN', firstName: 'Ada', lastName: 'Lovelace', value: 20 }
    const again = world.start({ fields: { ...open, email: 'Ada@example.com' } })
    await expect(again).rejects.toMatchObject(spent('receiver'))
    await world.start({ fields: { ...open, email: 'bob@example.com' } })
  })

  test('never keep a checkout that was begun before from its order', async () => {
    const world = strictWorld()
    const refundTo = 'btc-address-of-ada'
    const begun = [await world.start({ refundTo }), await world.start({ refundTo })]
    for (const { checkout } of begun) {
      const { invoice } = invoiced(checkout)
      world.processor.pay(invoice.id, invoice.units)
      await world.live(60_000)
      expect(await world.orders.find(checkout.orderId)).toBeDefined()
    }
  })

  test('count for those whom the checkout keeps until it has its order, or never will', async () => {
    const world = strictWorld()
    const fields = { ...cardForm.fields, email: 'ada@example.com' }
    const checkout = await world.fail({ client: '192.0.2.1', fields })
    expect(checkout.subjects).toEqual({ client: expect.any(String), receiver: expect.any(String) })
    expect(JSON.stringify(checkout.subjects)).not.toMatch(/192|ada/)
    expect(await world.seen(checkout.id)).not.toHaveProperty('subjects')
    const unpaid = await world.start({ client: '192.0.2.1' })
    await world.live(hour)
    expect(await world.seen(unpaid.checkout.id)).toMatchObject({ state: 'ENDED' })
    expect(await world.seen(unpaid.checkout.id)).not.toHaveProperty('subjects')
  })
})
