import { describe, expect, test } from 'vitest'
import { esim } from '../../test/fixtures/offers.ts'
import { authorizedAs } from '../payments/payments.fixture.ts'
import { expectOrder, plan, purchaseWorld, refusalOf } from './purchase.fixture.ts'

describe('an eSIM to recharge', () => {
  const iccid = `89${'4'.repeat(17)}`
  const recharge = { kind: 'esim', fields: { offerId: plan.id, iccid } } as const
  const esimHeld = {
    outcome: 'delivered',
    delivery: { kind: 'esim', iccid, activationCode: 'X' },
  } as const

  function worldIn(known: 'yes' | 'no' | 'unknown') {
    const world = purchaseWorld({ held: esimHeld })
    Object.assign(world.supplier, {
      knowsIccid: async () => {
        world.calls.push('knowsIccid')
        return known
      },
    })
    return world
  }

  test('is not asked about while nobody pays', async () => {
    const { ask, calls } = worldIn('no')
    expect((await ask(recharge)).type).toBe('payment_required')
    expect(calls).toEqual([])
  })

  test('is taken when the supplier knows it', async () => {
    expect(expectOrder(await worldIn('yes').buy(recharge)).order.state).toBe('FULFILLED')
  })

  test('is taken when this wallet bought it here, and nobody is asked', async () => {
    const { buy, calls } = worldIn('no')
    expectOrder(await buy({ kind: 'esim', fields: { offerId: plan.id } }))
    expect(expectOrder(await buy(recharge)).order.state).toBe('FULFILLED')
    expect(calls).not.toContain('knowsIccid')
  })

  test('that was sold here is refused for a plan of another brand, whoever pays', async () => {
    const { ask, buy, pay, putOnSale, orders } = worldIn('yes')
    expectOrder(await buy({ kind: 'esim', fields: { offerId: plan.id } }))
    putOnSale(plan, esim('OTHER', { brandName: 'Wander' }))
    const other = { kind: 'esim', fields: { offerId: 'OTHER', iccid } } as const
    const payment = await pay(other)
    const before = orders.history.length
    for (const signed of [payment, authorizedAs(payment, { from: `0x${'9'.repeat(40)}` })]) {
      expect(await refusalOf(ask({ ...other, payment: signed }))).toMatchObject({
        code: 'invalid_body',
        details: { faults: [{ field: 'iccid', code: 'other_esim', known: [plan.brandName] }] },
      })
    }
    expect(orders.history).toHaveLength(before)
  })

  test('is refused when another wallet bought it', async () => {
    const { ask, buy, pay } = worldIn('no')
    expectOrder(await buy({ kind: 'esim', fields: { offerId: plan.id } }))
    const payment = await pay(recharge)
    const other = authorizedAs(payment, { from: `0x${'9'.repeat(40)}` })
    expect((await refusalOf(ask({ ...recharge, payment: other }))).code).toBe('invalid_body')
  })

  test('is refused when nobody knows it, and nothing is taken', async () => {
    const { buy, orders, calls } = worldIn('no')
    expect(await refusalOf(buy(recharge))).toMatchObject({
      code: 'invalid_body',
      details: { parameter: 'iccid' },
    })
    expect(orders.history).toEqual([])
    expect(calls).not.toContain('collect')
  })

  test('is not guessed about when the supplier is silent', async () => {
    const { buy, orders, calls } = worldIn('unknown')
    expect(await refusalOf(buy(recharge))).toMatchObject({
      code: 'try_again',
      details: { charged: 'no' },
    })
    expect(orders.history).toEqual([])
    expect(calls).not.toContain('collect')
  })

  test.each(['unknown', 'no'] as const)(
    'is answered with its order when the same request took the payment meanwhile (%s)',
    async (known) => {
      const world = worldIn('yes')
      const payment = await world.pay(recharge)
      const asked = { ...recharge, payment }
      const first = Promise.withResolvers<'unknown' | 'no'>()
      const { supplier } = world
      Object.assign(supplier, { knowsIccid: () => first.promise })
      const slow = world.ask(asked)
      await expect.poll(() => world.calls).toContain('check')
      Object.assign(supplier, { knowsIccid: async () => 'yes' })
      expectOrder(await world.ask(asked))
      first.resolve(known)
      expect(expectOrder(await slow)).toMatchObject({ replayed: true })
    },
  )

  test('is not looked up for a payment that is not theirs to make', async () => {
    const world = worldIn('no')
    world.says.check = () => ({ outcome: 'bad', code: 'invalid_signature', reason: 'no' })
    expect((await world.buy(recharge)).type).toBe('payment_required')
    expect(world.calls).not.toContain('knowsIccid')
  })
})
