import { describe, expect, test } from 'vitest'
import {
  checkoutId,
  checkoutService,
  checkoutToken,
  checkoutView,
} from '../../../test/fixtures/checkouts.ts'
import { shopOffers } from '../../../test/fixtures/offers.ts'
import type { CheckoutStage } from '../../api/checkout.ts'
import type { OrderStage } from '../../api/tracking/stage.ts'
import type { Kind } from '../../catalog/offer.ts'
import { document, type Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { frame } from '../frame/page.fixture.ts'
import { oddOffers, read, website } from '../frame/website.fixture.ts'
import { findPage } from '../orders/find-page.ts'
import { orderPage } from '../orders/order-page.ts'
import { own, view } from '../orders/order-view.fixture.ts'
import { refundPage } from '../orders/refund-page.ts'
import { goodsPage } from '../orders/reveal-page.ts'
import { countriesByName } from './countries.ts'
import { type Messages, messagesOf, type TitledName, textsIn, titled } from './texts.ts'

const english = messagesOf('en')

/** Every message in brackets, so that all other text of a page is found not to come from the messages. */
const bracketed = Object.fromEntries(
  Object.entries(english).map(([id, text]) => [id, `⟦${text}⟧`]),
) as Messages
const t = textsIn('de', bracketed)

const wordsIn = (text: string) => text.match(/\p{L}{2,}/gu) ?? []

/** Names, which are the same in every language, and what suppliers and operators write. */
const names = new Set(
  [
    JSON.stringify([shopOffers, oddOffers, frame.site, countriesByName(t)]),
    'Test Kiosk Goods for tests. Claro Steam Base Bitcoin Ether Tether Litecoin Monero Tron',
    'USD USDC BTC ETH USDT LTC XMR GB MB UTC JSON API ops kiosk example well known',
    'iPhone Android',
  ].flatMap(wordsIn),
)

const attributes =
  /\b(?:aria-label|alt|title|placeholder|label|data-(?:copied|connect|searching|refused|offline|working|over|name|live-say|left\w*))="([^"]*)"/g
const metas = /<meta (?:name="description"|property="og:(?:title|description)") content="([^"]*)"/g

/** The words of a page that are neither in a message nor in a name. Codes, times and addresses do not count. */
function strayWords(page: string): string[] {
  const shown = page
    .replace(/<(script|style|code|pre|time|svg)\b[\s\S]*?<\/\1>/g, ' ')
    .replace(/<(\w+) lang="en">[\s\S]*?<\/\1>/g, ' ')
  const spoken = [attributes, metas].flatMap((pattern) =>
    [...page.matchAll(pattern)].map(([, text = '']) => text),
  )
  let text = read(`${shown} ${spoken.join(' ')}`)
  for (let before = ''; before !== text; ) {
    before = text
    text = text.replace(/⟦[^⟦⟧]*⟧/g, ' ')
  }
  return [...new Set(wordsIn(text))].filter((word) => !names.has(word))
}

const strayOf = (page: Page) => strayWords(document({ ...frame, t }, page))
const parts = {
  t,
  recentUrl: '/recent.js',
  contact: 'ops@kiosk.example',
  formKey: 'k',
}
const suffixed = <Name extends string>(pattern: RegExp) =>
  Object.keys(english).flatMap((id) => pattern.exec(id)?.slice(1) ?? []) as Name[]

describe('a second language is one file: no English is left in', () => {
  const options = { t, isSandbox: true, rates: () => '2' }

  test.each([
    '/',
    '/search',
    '/search?kind=esim&country=JP&sort=low',
    '/search?q=amazon&country=US',
    '/search?q=zzzzqq',
    '/search?page=90',
    '/search?min=x&max=1&country=QQ&kind=x&q=!&sort=x&page=x&amount=x&region=x&category=x',
    '/buy/AMZ_US_25',
    '/buy/IN_EUROS',
    '/buy/ADDRESS_US_5',
    '/buy/CLARO_GT_5',
    '/buy/ESIM-UK',
    '/how-it-works',
    '/terms',
    '/errors',
    '/find',
    '/reveal',
    '/approve/apr_unknown',
    '/nosuch',
    '/docs/api',
  ])('%s', async (path) => {
    const { get } = website({ ...options, checkout: checkoutService().checkouts })
    const { body } = await get(path, { accept: 'text/html' })
    expect(body).toContain('⟦')
    expect(body).toContain('<html lang="de">')
    expect(strayWords(body)).toEqual([])
  })

  test('a form that comes back', async () => {
    const { post } = website({ ...options, checkout: checkoutService().checkouts })
    const { body } = await post('/buy/CLARO_GT_5', {
      key: 'A'.repeat(22),
      msisdn: '12',
      pay: 'BTC',
    })
    expect(body).toContain('role="alert"')
    expect(strayWords(body)).toEqual([])
  })

  test.each(suffixed<CheckoutStage>(/^pay\.stages\.(\w+)\.title$/))(
    'a payment: %s',
    async (stage) => {
      const { checkouts } = checkoutService(checkoutView(stage))
      const { get } = website({ ...options, checkout: checkouts })
      for (const cookie of [`access=${checkoutToken}`, '']) {
        expect(strayWords((await get(`/pay/${checkoutId}`, { cookie })).body)).toEqual([])
      }
    },
  )

  test.each(suffixed<OrderStage>(/^orders\.stages\.(\w+)\.title$/))('an order: %s', (stage) => {
    for (const changes of [{}, { own: own({ brandName: 'Steam' }) }]) {
      const one = view({ stage, isFinished: false, ...changes })
      expect(strayOf(orderPage(one, { ...parts, mail: {}, sendsMail: true }))).toEqual([])
      expect(strayOf(refundPage(one, parts))).toEqual([])
    }
  })

  test.each<Kind>(['voucher', 'topup', 'esim'])('the goods: %s', (kind) => {
    const goods = {
      code: 'C',
      pin: '1',
      lpa: 'LPA:1$h$ID',
      iccid: '89',
      msisdn: '+502',
      terms: 'C',
    }
    const shown = { type: 'goods', kind, goods } as const
    const one = view({ kind, own: own({ kind, brandName: 'Steam' }) })
    expect(strayOf(orderPage(one, { ...parts, shown }))).toEqual([])
    expect(strayOf(orderPage(one, parts))).toEqual([])
    const revealed = { orderId: one.id, kind, brandName: 'Steam', result: goods }
    expect(strayOf(goodsPage(revealed, t))).toEqual([])
  })

  test('what is said of orders that were looked for', () => {
    const item = { orderId: 'ord_1', brandName: 'Steam', refund_state: null, placed_at: '2026' }
    const items = suffixed(/^find\.list\.states\.(\w+)$/).map((state) => ({ ...item, state }))
    const list = { wallet: '0x1', total: 90, items }
    const found = { view: view(), typed: '0x2', isWrong: true }
    for (const said of ['done', 'wrong', 'tooMany'] as const) {
      expect(strayOf(findPage({ ...parts, mail: { said }, list, found }))).toEqual([])
    }
    for (const said of ['wrong', 'none'] as const) {
      const number = { typed: '1', said }
      expect(strayOf(findPage({ ...parts, number, wallet: { said: 'failed' } }))).toEqual([])
    }
  })

  test('a page that says one thing', () => {
    const named = suffixed<TitledName>(
      /^((?:messages|reveal\.closed|approve\.closed|\w+)\.\w+)\.title$/,
    )
    for (const name of named.filter((name) => `${name}.text` in english)) {
      expect(strayOf(messagePage(titled(t, name), t))).toEqual([])
    }
  })
})
