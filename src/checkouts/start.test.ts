import { describe, expect, test, vi } from 'vitest'
import { cardForm, checkoutWorld, invoiced } from '../../test/doubles/checkouts.ts'
import { sellingRulesOf } from '../catalog/selling-rules.ts'
import { Refusal } from '../lib/refusal.ts'
import { type CheckoutForm, methodsTaken, startCheckout } from './start.ts'

const minute = 60_000

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

  test('asks about a phone that was topped up just before; its own checkout and who insists go on', async () => {
    const world = checkoutWorld()
    const form = {
      kind: 'topup',
      fields: { offerId: 'CREDIT', msisdn: '+50255512345' },
    } as const
    const { checkout } = await world.start(form)
    const { invoice } = invoiced(checkout)
    world.processor.pay(invoice.id, invoice.units)
    await world.live(10_000)
    expect(await world.orders.find(checkout.orderId)).toMatchObject({ state: 'FULFILLED' })
    expect((await world.start(form)).checkout.id).toBe(checkout.id)
    const again = { ...form, formKey: 'b'.repeat(32) }
    await expect(world.start(again)).rejects.toMatchObject({ code: 'possible_duplicate' })
    const insisting = { ...again, fields: { ...form.fields, confirmAnother: true } }
    expect((await world.start(insisting)).checkout.id).not.toBe(checkout.id)
    await world.live(2 * minute)
    await world.start({ ...form, formKey: 'c'.repeat(32) })
  })

  test('names every fault at once', async () => {
    const world = checkoutWorld()
    const fields = { offerId: 'OPEN', firstName: 'Ada', value: -1 }
    const bad = world.start({ fields, coin: 'BTC', refundTo: 'ltc-address', formKey: 'short' })
    await expect(bad).rejects.toMatchObject({
      code: 'invalid_body',
      details: {
        faults: ['lastName', 'value', 'refundTo', 'formKey'].map((field) =>
          expect.objectContaining({ field }),
        ),
      },
    })
    const beyond = world.start({ fields: { ...fields, value: 90_000 }, coin: 'DOGE' })
    await expect(beyond).rejects.toMatchObject({
      details: {
        faults: ['lastName', 'value', 'coin'].map((field) => expect.objectContaining({ field })),
      },
    })
    await expect(world.start({ coin: 'DOGE' })).rejects.toMatchObject({
      details: { faults: [{ code: 'unknown_coin', known: ['BTC', 'ETH', 'USDT', 'LTC', 'XMR'] }] },
    })
    expect(world.checkouts.history).toEqual([])
  })

  test('offers no coin that the operator has paused', async () => {
    const world = checkoutWorld()
    const scope = { type: 'method', key: 'BTC' } as const
    const rules = sellingRulesOf([{ id: 1, scope, effect: { type: 'pause' } }])
    const deps = { ...world.deps, pricing: { ...world.deps.pricing, rules: () => rules } }
    expect(methodsTaken(deps).map(({ coin }) => coin)).toEqual(['ETH', 'USDT', 'LTC', 'XMR'])
    await expect(startCheckout(deps, cardForm)).rejects.toMatchObject({
      details: { faults: [{ field: 'coin', code: 'unknown_coin' }] },
    })
    const ltc = { ...cardForm, coin: 'LTC', refundTo: 'ltc-address-of-ada' }
    expect((await startCheckout(deps, ltc)).checkout.coin).toBe('LTC')
  })

  test('gives no address of the store itself for money that goes back', async () => {
    const world = checkoutWorld()
    const { checkout } = await world.start()
    const { invoice } = invoiced(checkout)
    const before = world.checkouts.history.length
    const good = (_: unknown, address: string) => ({ outcome: 'good', address }) as const
    const form = { ...cardForm, refundTo: invoice.address.toUpperCase() }
    const again = startCheckout({ ...world.deps, readAddress: good }, form)
    await expect(again).rejects.toThrow('refundTo own_address')
    expect(world.checkouts.history).toHaveLength(before)
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

  test('can be sent again while the record of eSIMs does not answer', async () => {
    const world = checkoutWorld()
    world.orders.plansOf = () => Promise.reject(new Error('no connection'))
    const report = vi.fn()
    const fields = { offerId: 'PLAN', iccid: '8901234567890123456' }
    const form: CheckoutForm = { ...cardForm, kind: 'esim', fields }
    const started = startCheckout({ ...world.deps, report }, form)
    await expect(started).rejects.toMatchObject({ code: 'try_again', details: { charged: 'no' } })
    expect(report.mock.calls).toMatchObject([[{ name: 'purchase_failed' }]])
  })
})
