import { expect, test } from 'vitest'
import type { Script } from '../../test/doubles/orders.ts'
import { topup, voucher } from '../../test/fixtures/offers.ts'
import { declined, minute, newLife } from './life.fixture.ts'
import { price } from './price.ts'
import { ada, card, purchaseWorld } from './purchase.fixture.ts'
import { claimRefund } from './refund.ts'

const held = { payout: { state: 'FAILED', code: 'payee_declined' } }

/** An order that the supplier declines, whose payer the denylist of its store may name. */
async function declinedOrder(script: Partial<Script>, isListed: boolean) {
  const life = newLife({ ...declined, ...script })
  const denylist = new Set<string>()
  Object.assign(life.deps, { denylist })
  const list = () => denylist.add(`0x${'2'.repeat(40)}`)
  if (isListed) list()
  await life.begin()
  const claim = (key: string) => claimRefund(life.deps, life.now(), { key, bodyHash: 'body' })
  return { ...life, denylist, list, claim }
}

test('no refund is signed for a payee on the list, until it is off the list', async () => {
  const { denylist, now, live, claim, times } = await declinedOrder({}, true)
  expect(now()).toMatchObject(held)
  await claim('while it is listed')
  expect(await live(minute)).toMatchObject(held)
  expect([times('sign'), times('payBack')]).toEqual([0, 0])
  denylist.clear()
  await claim('once it is not')
  expect(await live(minute)).toMatchObject({ payout: { state: 'CONFIRMED' } })
})

test('a refund that is signed already is not sent again, and stays the same refund', async () => {
  const pending = { outcome: 'pending', reason: 'sent' } as const
  const { denylist, list, now, live, claim, times } = await declinedOrder(
    { paidBack: pending },
    false,
  )
  expect(now()).toMatchObject({ payout: { state: 'APPROVED' } })
  const sent = times('payBack')
  list()
  expect(await live(minute)).toMatchObject({ payout: { state: 'FAILED', signed: {} } })
  expect(times('payBack')).toBe(sent)
  denylist.clear()
  await claim('once it is off the list')
  const paidBack = { outcome: 'paid', transaction: `0x${'b'.repeat(64)}` } as const
  expect(await live(minute, { paidBack })).toMatchObject({ payout: { state: 'CONFIRMED' } })
  expect(times('sign')).toBe(1)
})

test('nothing is sold for a receiver on the list, whichever field names it', () => {
  const denylist = new Set(['eve@example.com', '+50255512345'])
  const { deps, putOnSale } = purchaseWorld({}, { denylist })
  putOnSale(card, voucher('PHONE', { requiredFields: ['recipient.msisdn'] }), topup('CREDIT'))
  const priced = (fields: object) => price(deps, undefined, { ...fields })
  for (const email of ['eve@example.com', 'EVE@example.com']) {
    expect(() => priced({ ...ada, email })).toThrow('declines')
  }
  const byPhone = { ...ada, offerId: 'PHONE', email: 'ada@example.com' }
  expect(() => priced({ ...byPhone, recipientMsisdn: '+502 5551-2345' })).toThrow('declines')
  expect(() => priced({ offerId: 'CREDIT', msisdn: '+50255512345' })).toThrow('declines')
  expect(priced({ ...byPhone, recipientMsisdn: '+50255512346' }).offer.id).toBe('PHONE')
})
