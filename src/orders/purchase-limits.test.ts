import { describe, expect, test, vi } from 'vitest'
import { topup, voucher } from '../../test/fixtures/offers.ts'
import { fixturePayer } from '../payments/payments.fixture.ts'
import { createDigest } from '../secrets/secrets.ts'
import { ada, card, expectOrder, plan, purchaseWorld, refusalOf } from './purchase.fixture.ts'
import { type LimitsBody, liftLimits, readLimits, setLimits } from './spending-limits/keep.ts'

const hour = 3_600_000
const phoneCard = voucher('PHONE', { requiredFields: ['recipient.msisdn'] })
const byPhone = { ...ada, offerId: 'PHONE', recipientMsisdn: '+1 202-456-1111' }
const credit = { kind: 'topup', fields: { offerId: 'CREDIT', msisdn: '+50255512345' } } as const
const key = { viewer: { keys: ['key-of-16-letters'] } }

/** A buyer whose wallet has spending limits. The card costs 20 USDC. */
async function limitedTo(...bodies: readonly LimitsBody[]) {
  const world = purchaseWorld()
  world.putOnSale(card, phoneCard, plan, topup('CREDIT'))
  const { deps } = world
  const limitsDeps = { ...deps, limits: world.orders.limits, coolingMs: 24 * hour }
  for (const body of bodies) await setLimits(limitsDeps, fixturePayer, body)
  return { ...world, lift: () => liftLimits(limitsDeps, fixturePayer) }
}

const twenty = { usdc: '20.00', atomic: '20000000' }

describe('beyond the limits of the payer', () => {
  test.each<[LimitsBody, Record<string, unknown>]>([
    [
      { kinds: ['esim', 'topup'] },
      {
        parameter: 'offerId',
        allowed: ['esim', 'topup'],
        extra: { limit: 'kinds', asked: 'voucher' },
      },
    ],
    [
      { countries: ['DE'] },
      { parameter: 'offerId', allowed: ['DE'], extra: { limit: 'countries', asked: 'US' } },
    ],
    [{ recipients: ['+50255512345'] }, { parameter: 'email', extra: { limit: 'recipients' } }],
    [
      { perOrderUsdc: '19.999999' },
      {
        parameter: 'offerId',
        extra: {
          limit: 'per_order',
          allows: { usdc: '19.999999', atomic: '19999999' },
          asked: twenty,
        },
      },
    ],
    [
      { perDayUsdc: '12' },
      {
        parameter: 'offerId',
        extra: {
          limit: 'per_day',
          allows: { usdc: '12.00', atomic: '12000000' },
          asked: twenty,
          spent: { usdc: '0.00', atomic: '0' },
          remaining: { usdc: '12.00', atomic: '12000000' },
          until: null,
        },
      },
    ],
  ])('%j nothing is written or taken, and the limit is named', async (body, details) => {
    const { buy, calls, orders } = await limitedTo(body)
    const refusal = await refusalOf(buy())
    expect(refusal.code).toBe('limit_exceeded')
    expect(refusal.details).toEqual({ ...details, charged: 'no' })
    expect(refusal.message).toMatch(
      /^(This wallet allows only|The spending limit of this wallet is) .*/,
    )
    expect([calls, orders.history]).toEqual([['check'], []])
  })

  test('a day says how much is left and until when', async () => {
    const { buy, clock } = await limitedTo({ perDayUsdc: '45' })
    const first = expectOrder(await buy()).order
    clock.pass(hour)
    expectOrder(await buy())
    clock.pass(hour)
    const { details } = await refusalOf(buy())
    expect(details.extra).toMatchObject({
      spent: { usdc: '40.00' },
      remaining: { usdc: '5.00' },
      until: new Date(first.placedAt.getTime() + 24 * hour).toISOString(),
    })
    clock.pass(22 * hour)
    expectOrder(await buy())
    expect((await refusalOf(buy())).details.extra).toMatchObject({ limit: 'per_day' })
  })

  const iccid = `89${'4'.repeat(17)}`
  const plans = { kind: 'esim', fields: { offerId: plan.id } } as const
  const forEve = { fields: { ...ada, email: 'eve@example.com' } }
  const friends = { recipients: ['+50255599999', 'ada@example.com'] }
  const oneFriend = { recipients: ['+50255599999'] }
  const nothing = (what: string) =>
    `have no ${what} in common, so it can buy nothing until the new ones`
  test.each<[string, readonly LimitsBody[], object]>([
    [nothing('kinds'), [{ kinds: ['esim'] }, { kinds: ['topup'] }], {}],
    [nothing('countries'), [{ countries: ['DE'] }, { countries: ['MX'] }], {}],
    ['no recipients in common', [oneFriend, { recipients: ['ada@example.com'] }], {}],
    ['This wallet allows only one recipient.', [oneFriend, {}], {}],
    ['This wallet allows only 2 recipients.', [friends, {}], {}],
    ['a plan for many', [{ countries: ['US'] }], plans],
    ['This is for GT', [{ countries: ['US'] }], credit],
    ['The number is none of them', [friends], credit],
    ['Name one of them in email', [friends], {}],
    ['The e-mail address', [friends], forEve],
    ['or phone number is none', [friends], { fields: byPhone }],
    ['or phone number', [friends], { fields: { ...byPhone, email: 'ada@example.com' } }],
    ['A new eSIM is none of them', [friends], plans],
    ['The eSIM is none', [friends], { ...plans, fields: { ...plans.fields, iccid } }],
  ])('"%s" is said of %j, and no recipient is named', async (text, bodies, request) => {
    const { buy, calls } = await limitedTo(...bodies)
    const { details, message } = await refusalOf(buy(request))
    expect(calls).toEqual(['check'])
    expect(message).toContain(text)
    expect(message).not.toMatch(/@|555/)
    expect(JSON.stringify(details)).not.toMatch(/\+502|@|89444/)
    if (text.includes('can buy nothing')) expect(details.allowed).toEqual([])
  })
})

describe('within the limits of the payer', () => {
  test.each<[string, object]>([
    ['a number', credit],
    ['a number for a card', { fields: byPhone }],
    ['an address and a number', { fields: { ...byPhone, email: 'ada@example.com' } }],
    ['an address, in any case', { fields: { ...ada, email: 'ADA@example.com' } }],
  ])('%s that is listed is bought for, also when the store has a new key', async (_, request) => {
    const recipients = [credit.fields.msisdn, 'Ada@example.com', byPhone.recipientMsisdn]
    const { ask, pay, deps, clock } = await limitedTo(readLimits({ recipients }))
    const digest = createDigest([Buffer.alloc(32, 9), Buffer.alloc(32, 7)], 'orders')
    for (const given of [deps.digest, digest]) {
      Object.assign(deps, { digest: given })
      expectOrder(await ask({ ...request, payment: await pay(request) }))
      clock.pass(120_000)
    }
  })

  test.each<[LimitsBody, Record<string, unknown>, object]>([
    [{ recipients: ['+502 5551 2345'] }, credit.fields, credit],
    [{ recipients: ['+502 (5551)-23.45'] }, credit.fields, credit],
    [
      { recipients: [credit.fields.msisdn] },
      { ...credit.fields, msisdn: '+502 5551-2345' },
      credit,
    ],
    [{ recipients: ['ADA@Example.com'] }, { ...ada, email: 'ada@example.com' }, {}],
    [{ countries: ['gt'] }, credit.fields, credit],
  ])('%j in another spelling means the same: %j', async (body, fields, request) => {
    const { buy } = await limitedTo(readLimits({ ...body }))
    expectOrder(await buy({ ...request, fields }))
  })

  test('what is looser waits', async () => {
    const { buy, clock, lift } = await limitedTo({ perOrderUsdc: '5' })
    await lift()
    clock.pass(24 * hour - 1)
    expect((await refusalOf(buy())).code).toBe('limit_exceeded')
    clock.pass(1)
    expectOrder(await buy())
  })

  test('the same request again gets its order, though the limit is reached', async () => {
    const { ask, pay } = await limitedTo({ perDayUsdc: '20' })
    const payment = await pay(key)
    const { order } = expectOrder(await ask({ ...key, payment }))
    expect(expectOrder(await ask({ ...key, payment })).order.id).toBe(order.id)
    const again = await ask({ ...key, payment: await pay(key) })
    expect(expectOrder(again)).toMatchObject({ order: { id: order.id }, replayed: true })
  })

  test('of many at once, each gets an order while there is room', async () => {
    const { ask, pay, orders } = await limitedTo({ perDayUsdc: '70' })
    const payments = []
    for (let count = 0; count < 8; count += 1) payments.push(await pay())
    const done = await Promise.allSettled(payments.map((payment) => ask({ payment })))
    expect(done.filter(({ status }) => status === 'fulfilled')).toHaveLength(3)
    for (const one of done) {
      if (one.status === 'fulfilled') continue
      expect(one.reason).toMatchObject({
        code: 'limit_exceeded',
        details: { charged: 'no', extra: { limit: 'per_day', remaining: { usdc: '10.00' } } },
      })
    }
    expect(new Set(orders.history.map(({ id }) => id)).size).toBe(3)
  })

  test('limits that cannot be read take nobody’s money', async () => {
    const { ask, pay, orders, calls } = await limitedTo({ perDayUsdc: '70' })
    const payment = await pay()
    vi.spyOn(orders.limits, 'find').mockRejectedValueOnce(new Error('gone'))
    expect((await refusalOf(ask({ payment }))).code).toBe('try_again')
    expect(calls).toEqual(['check'])
    expectOrder(await ask({ payment }))
  })
})
