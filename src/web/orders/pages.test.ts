import { describe, expect, test } from 'vitest'
import type { GoodsView, OrderPageView } from '../../api/tracking/order-view.ts'
import { breakout, read } from '../frame/website.fixture.ts'
import { messagesOf, textsIn } from '../texts/texts.ts'
import { findPage } from './find-page.ts'
import { orderPage } from './order-page.ts'
import { at, own, parts, view, whole } from './order-view.fixture.ts'

const t = textsIn('en')

const shownAs = (shown: GoodsView) =>
  whole(
    orderPage(view({ own: own(), kind: shown.type === 'goods' ? shown.kind : 'voucher' }), {
      ...parts,
      shown,
    }),
  )
const goodsOf = (
  kind: 'voucher' | 'topup' | 'esim',
  goods: Record<string, unknown>,
): GoodsView => ({
  type: 'goods',
  kind,
  goods,
})

const stages = Object.keys(messagesOf('en')).flatMap((id) => {
  const [, stage] = /^orders\.stages\.(\w+)\.title$/.exec(id) ?? []
  return stage === undefined ? [] : [stage as OrderPageView['stage']]
})

describe('the page of an order', () => {
  test.each(stages)('that is %s is whole', (stage) => {
    const isFinished = stage === 'delivered' || stage === 'not_taken'
    for (const one of [view({ stage, isFinished }), view({ stage, isFinished, own: own() })]) {
      const page = whole(orderPage(one, parts))
      expect(page).toContain(t(`orders.stages.${stage}.title`))
      // A page that changes also updates without script, unless a reload would lose typed text.
      const isReloaded = !isFinished && one.own !== undefined
      expect(page.includes('http-equiv="refresh"')).toBe(isReloaded)
      expect(page.includes(t('orders.lookAgain'))).toBe(!isFinished && !isReloaded)
      expect(page.includes('data-end')).toBe(isFinished)
    }
  })

  test('does not load itself again while an e-mail address may be typed', () => {
    const one = view({ stage: 'delivering', isFinished: false, own: own() })
    const page = whole(orderPage(one, { ...parts, mail: {} }))
    expect(page).not.toContain('http-equiv="refresh"')
    expect(page).toContain(t('orders.lookAgain'))
  })
})

describe('the goods', () => {
  test('of a voucher can be copied, and what a supplier wrote is text', () => {
    const page = shownAs(
      goodsOf('voucher', {
        code: 'A-1',
        pin: '12',
        instructions: breakout,
        terms: breakout,
        redemptionUrl: 'javascript:alert(1)',
        expiresAt: '2027-11-22T01:02:16.749Z',
      }),
    )
    expect(page).toContain('<code class="copy" id="goods-code">A-1</code>')
    expect(page).toContain('data-copy="#goods-pin"')
    expect(read(page)).toContain('Valid until 2027-11-22 ')
    expect(page).not.toContain('href="javascript')
  })

  test('of a topup say what was credited, and not the whole number', () => {
    const credited = { amount: 7_660, currency: 'GTQ', currencyDivisor: 100 }
    const page = shownAs(goodsOf('topup', { msisdn: '+50255551234', credited }))
    expect(read(page)).toContain('Credited 76.60 GTQ')
    expect(page).not.toContain('50255551234')
  })
})

test('the page that finds is whole, whatever was typed', () => {
  const typed = breakout
  const item = {
    orderId: 'ord_1',
    brandName: breakout,
    state: 'EXPIRED',
    refund_state: 'REFUNDED',
    placed_at: at.toISOString(),
  }
  whole(findPage({ ...parts }))
  whole(findPage({ ...parts, mail: {}, number: { typed, result: 'none' } }))
  whole(findPage({ ...parts, mail: { typed, result: 'wrong' }, wallet: { result: 'failed' } }))
  const list = { wallet: '0x1', total: 2, limit: 50, offset: 0, items: [item as never] }
  expect(read(whole(findPage({ ...parts, list })))).toContain('Refunded')
})
