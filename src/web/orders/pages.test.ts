import { describe, expect, test } from 'vitest'
import { esim, fixed, open, topup, voucher } from '../../../test/fixtures/offers.ts'
import type { GoodsShown } from '../../api/tracking/goods.ts'
import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { faceValueFor } from '../../catalog/face-value.ts'
import type { Offer } from '../../catalog/offer.ts'
import { detailsOf, worthOf } from '../../catalog/offer-details.ts'
import { maxKept } from '../../checkouts/ledger.ts'
import type { CheckoutId } from '../../lib/ids.ts'
import { formatUsdc } from '../../lib/money.ts'
import { breakout, read } from '../frame/website.fixture.ts'
import { messagesOf, textsIn } from '../texts/texts.ts'
import { findPage } from './find-page.ts'
import { installOf, masked } from './goods-part.ts'
import { orderPage } from './order-page.ts'
import { at, own, parts, view, whole } from './order-view.fixture.ts'
import { refundPage } from './refund-page.ts'

const t = textsIn('en')

const shownAs = (shown: GoodsShown) =>
  whole(
    orderPage(view({ own: own(), kind: shown.type === 'goods' ? shown.kind : 'voucher' }), {
      ...parts,
      shown,
    }),
  )
const goodsOf = (
  kind: 'voucher' | 'topup' | 'esim',
  goods: Record<string, unknown>,
): GoodsShown => ({
  type: 'goods',
  kind,
  goods,
})

describe('links that install an eSIM', () => {
  test('carry the whole activation code, for Apple and for Google', () => {
    expect(installOf('LPA:1$smdp.example.com$ABC-1')).toEqual({
      lpa: 'LPA:1$smdp.example.com$ABC-1',
      smdpAddress: 'smdp.example.com',
      matchingId: 'ABC-1',
      iosUrl:
        'https://esimsetup.apple.com/esim_qrcode_provisioning?carddata=LPA%3A1%24smdp.example.com%24ABC-1',
      androidUrl:
        'https://esimsetup.android.com/esim_qrcode_provisioning?carddata=LPA%3A1%24smdp.example.com%24ABC-1',
    })
  })

  test('cannot be more than their code, and know codes with and without further parts', () => {
    const { iosUrl } = installOf('LPA:1$h$&x=1#')
    expect(iosUrl.split('?')[1]).toBe('carddata=LPA%3A1%24h%24%26x%3D1%23')
    expect(installOf('LPA:1$h$')).not.toHaveProperty('matchingId')
    expect(installOf('LPA:1$h$ID$1.3.6$1')).toMatchObject({ smdpAddress: 'h', matchingId: 'ID' })
  })
})

const euroCard = voucher('EUROS', {
  country: 'AT',
  price: open(500, 50_000),
  faceValue: { ...open(430, 43_000, 1), currency: 'EUR' },
})
const both = ['KR', 'JP'].map((country) => ({ country, speeds: ['4G'] }))
const reported = { currency: 'EUR', divisor: 100, amount: 2_147, isExact: true }

/** The text about a purchase for its buyer. */
function bought({ offer, ...told }: { offer: Offer; value?: number; phone?: string }) {
  const receives = faceValueFor(worthOf(offer), told.value)
  const { fairUse, ...shown } = detailsOf(offer)
  return {
    ...told,
    kind: offer.kind,
    offer: { kind: offer.kind, ...(offer.country && { country: offer.country }), ...shown },
    ...(receives === undefined ? {} : { receives }),
    ...(fairUse === undefined ? {} : { fairUse }),
  }
}

const openCard = voucher('OPEN', { price: open(500, 10_000), faceValue: open(500, 10_000) })

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
      expect(page.includes('data-live-end')).toBe(isFinished)
      expect(whole(refundPage(one, { ...parts, formKey: 'k' }))).toContain(one.id)
    }
  })

  test('comes again from its own address, whichever form it is the answer to', () => {
    const one = view({ stage: 'delivering', isFinished: false, own: own() })
    const page = whole(orderPage(one, parts))
    expect(page).toContain(`data-live-page="/orders/${one.id}"`)
    expect(page).toContain(`content="10; url=/orders/${one.id}"`)
    const refund = whole(refundPage(one, { ...parts, formKey: 'k' }))
    expect(refund).toContain(`data-live-page="/orders/${one.id}/refund"`)
    expect(refund).toContain(`content="10; url=/orders/${one.id}/refund"`)
  })

  test('does not load itself again while an e-mail address may be typed', () => {
    const one = view({ stage: 'delivering', isFinished: false, own: own() })
    const page = whole(orderPage(one, { ...parts, mail: {} }))
    expect(page).not.toContain('http-equiv="refresh"')
    expect(page).toContain(t('orders.lookAgain'))
  })

  test('leads to the payment while it waits for one', () => {
    const checkout = 'chk_1' as CheckoutId
    const page = whole(orderPage(view({ stage: 'awaiting_payment', checkout }), parts))
    expect(page).toContain('href="/pay/chk_1"')
  })

  test('that was not paid promises back what does go back', () => {
    const said = (changes: Partial<OrderPageView>) =>
      read(whole(orderPage(view({ stage: 'not_paid', ...changes }), parts)))
    expect(said({ coin: 'BTC' })).toContain(`unless it is worth ${formatUsdc(maxKept)} USD or less`)
    // A buyer who pays in USDC was asked for no address.
    expect(said({})).toContain('No money was taken for it.')
    expect(said({})).not.toContain('goes back')
  })

  test('says what was paid in a coin, and of what that was the price', () => {
    const paid = own({ paidUnits: 123_000n })
    const text = read(whole(orderPage(view({ coin: 'BTC', network: 'Bitcoin', own: paid }), parts)))
    expect(text).toContain('0.00123 BTC (12.50 USD)')
    expect(text).toContain('Paid with BTC')
  })

  test.each([
    [
      'of a fixed value',
      bought({ offer: voucher('A', { faceValue: fixed(1_000, 'EUR'), country: 'DE' }) }),
      'Steam gift card, €10 Country Germany',
    ],
    [
      'of a value that was chosen',
      bought({ offer: openCard, value: 1_250 }),
      'Steam gift card, $12.50 Country United States',
    ],
    [
      'of a value that the supplier converts',
      bought({ offer: euroCard, value: 2_500 }),
      'Steam gift card, about €21.50 Country Austria Value you chose $25',
    ],
    [
      'of a value that the supplier has reported',
      { ...bought({ offer: euroCard, value: 2_500 }), receives: reported },
      'Steam gift card, €21.47 Country Austria Value you chose $25',
    ],
    [
      'for a phone',
      bought({ offer: topup('T', { faceValue: fixed(5_000, 'GTQ') }), phone: '+50255551234' }),
      'Steam airtime, GTQ 50 Country Guatemala Phone number +502 5555 1234',
    ],
    [
      'of a plan for a phone',
      bought({
        offer: topup('T', { faceValue: fixed(5_000, 'GTQ'), allowance: { dataGb: 2 } }),
        phone: '+50255551234',
      }),
      'Steam airtime, 2 GB Country Guatemala Phone number +502 5555 1234 Recipient gets GTQ 50',
    ],
    [
      'of a plan',
      bought({ offer: esim('E', { coverage: both, notes: 'Fine. After 1 GB: 512 kbps.' }) }),
      'Steam eSIM data plan, 1 GB, 7 days Works in Japan, South Korea Fair use After 1 GB: 512 kbps.',
    ],
    ['that is in no list any more', { country: 'FR' }, 'Steam gift card Country France'],
    ['that has no country', {}, 'Steam gift card'],
  ])('says what was bought: one %s', (_, changes, words) => {
    const one = view({ own: own({ brandName: 'Steam', ...changes }) })
    expect(read(whole(orderPage(one, parts)))).toContain(`Item ${words} Price`)
  })

  test('leads to other money that goes back, though it was delivered', () => {
    const payout = { state: 'DUE' } as const
    const more = own({ returns: [{ seq: 1, units: 5_000n, why: 'surplus', payout }] })
    const link = `href="/orders/${view().id}/refund"`
    expect(whole(orderPage(view({ coin: 'BTC', own: more }), parts))).toContain(link)
    expect(whole(orderPage(view({ coin: 'BTC', own: own() }), parts))).not.toContain(link)
  })

  test('keeps what was typed when it does not open the order', () => {
    const refused = { typed: breakout, isOld: false }
    const page = whole(orderPage(view(), { ...parts, refused }))
    expect(page).toContain('aria-invalid="true"')
    expect(page).toContain('aria-describedby="token-hint token-fault"')
    expect(read(page)).toContain(t('orders.locked.wrong'))
  })

  test.each([
    [true, '/find#by-mail'],
    [false, '/find#by-wallet'],
  ])('says of a link that is too old where a new one is (mail: %s)', (sendsMail, href) => {
    const refused = { typed: 'kop_old', isOld: true }
    const page = whole(orderPage(view(), { ...parts, refused, sendsMail }))
    expect(read(page)).toContain('This link has expired: it was valid for 7 days.')
    expect(page).toContain(`<a href="${href}">`)
    expect(read(page)).not.toContain(t('orders.locked.wrong'))
  })

  test('that is locked leads to every way that may open it', () => {
    const wallet = 'href="/find#by-wallet"'
    const mail = 'href="/find#by-mail"'
    const inUsdc = whole(orderPage(view(), { ...parts, sendsMail: true }))
    expect([inUsdc.includes(wallet), inUsdc.includes(mail)]).toEqual([true, true])
    const inCoin = whole(orderPage(view({ coin: 'BTC' }), parts))
    expect([inCoin.includes(wallet), inCoin.includes(mail)]).toEqual([false, false])
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

  test('of an eSIM are a drawing with words for it, links, and each part for itself', () => {
    const lpa = 'LPA:1$smdp.example.com$ABC-1'
    const page = shownAs(goodsOf('esim', { iccid: '8910', lpa, activationCode: 'ABC-1' }))
    expect(page).toContain(
      'role="img" aria-label="QR code that installs the eSIM. It contains: LPA:1$',
    )
    for (const id of ['lpa', 'smdp', 'matching', 'iccid'])
      expect(page).toContain(`id="goods-${id}"`)
    expect(page).toContain('>smdp.example.com</code>')
    expect(shownAs(goodsOf('esim', { iccid: '8910' }))).not.toContain('<svg class="esim-qr"')
  })

  test('of a topup say what was credited, and not the whole number', () => {
    const credited = { amount: 7_660, currency: 'GTQ', currencyDivisor: 100 }
    const page = shownAs(goodsOf('topup', { msisdn: '+50255551234', credited }))
    expect(read(page)).toContain('Credited 76.60 GTQ')
    expect(page).not.toContain('50255551234')
  })

  test.each([
    ['+50255551234', '+50 ••• ••• 234'],
    ['+1234567', '+12 ••• ••• 67'],
    ['+123', '+12 ••• •••'],
  ])('%s is masked', (number, shown) => {
    expect(masked(number)).toBe(shown)
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
  whole(findPage({ ...parts, mail: {}, number: { typed, said: 'none' } }))
  whole(findPage({ ...parts, mail: { typed, said: 'wrong' }, wallet: { said: 'failed' } }))
  const list = { wallet: '0x1', total: 2, items: [item] }
  expect(read(whole(findPage({ ...parts, list })))).toContain('Refunded')
})
