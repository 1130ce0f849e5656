import { describe, expect, test } from 'vitest'
import { read } from '../frame/website.fixture.ts'
import { textsIn } from '../texts/texts.ts'
import { orderPage } from './order-page.ts'
import { at, own, parts, view, whole } from './order-view.fixture.ts'
import { refundPage } from './refund-page.ts'

const t = textsIn('en')

describe('the refund', () => {
  const to = 'bc1qbuyer'
  test('by hand says that a person sends it, and offers nothing to press', () => {
    const refund = { to, startedAt: at, stuck: { code: 'operator_pays' } }
    const one = view({
      stage: 'refund_by_hand',
      coin: 'XMR',
      network: 'Monero',
      why: 'expired',
      own: own({ refund, paidUnits: 10n ** 11n }),
    })
    const page = whole(refundPage(one, { ...parts, formKey: 'k' }))
    expect(read(page)).toContain('our team will send it')
    expect(read(page)).toContain('0.1 XMR')
    expect(page).toContain(to)
    expect(page).not.toContain('<form')
  })

  test('that is stuck can be asked for again', () => {
    const refund = { to, startedAt: at, stuck: { code: 'x' } }
    const one = view({ stage: 'refund_stuck', own: own({ refund }) })
    expect(whole(refundPage(one, { ...parts, formKey: 'key-1' }))).toContain('value="key-1"')
  })

  test('says of a wallet that is blocked who alone can act', () => {
    const refund = { to, startedAt: at, stuck: { code: 'payer_blacklisted' } }
    const one = view({ stage: 'refund_stuck', own: own({ refund }) })
    const text = read(whole(refundPage(one, { ...parts, formKey: 'k' })))
    expect(text).toContain(t('orders.refund.blocked'))
    // The store could not keep that promise.
    expect(text).not.toContain(t('orders.refund.by'))
    expect(text).toContain(t('orders.steps.stuck'))
    expect(text).not.toContain(t('orders.steps.byHand'))
  })

  test('of a payment that vanished is none: it offers nothing and promises nothing', () => {
    const one = view({ stage: 'not_taken', times: { placed: at, failed: at }, own: own() })
    const order = whole(orderPage(one, parts))
    expect(order).toContain('<b>No money was taken</b>')
    expect(order).not.toContain('<b>Paid</b>')
    expect(order).not.toContain(`/orders/${one.id}/refund`)
    const page = whole(refundPage(one, { ...parts, formKey: 'k' }))
    expect(page).toContain('<h1 id="stage">No money was taken</h1>')
    expect(page).not.toContain('<form')
  })

  test('of an order that was not paid is none, though the checkout is watched on', () => {
    const one = view({ stage: 'not_paid', coin: 'BTC', isFinished: false })
    const text = read(whole(refundPage(one, { ...parts, formKey: 'k' })))
    expect(text).toContain(t('orders.refund.noneText'))
    expect(text).not.toContain(t('orders.refund.underWay'))
  })

  test('tells of other money that goes back from the checkout', () => {
    const payout = { state: 'CONFIRMED', transaction: 'f00d', confirmedAt: at } as const
    const one = own({ returns: [{ seq: 1, units: 5_000n, why: 'surplus', payout }], returnTo: to })
    const text = read(
      whole(refundPage(view({ coin: 'BTC', own: one }), { ...parts, formKey: 'k' })),
    )
    expect(text).toContain('0.00005 BTC was refunded in the transaction f00d Copy (overpaid).')
    expect(text).toContain(t('orders.refund.returnsText'))
    expect(text).not.toContain(t('orders.refund.none'))
  })
})
