import type { GoodsShown } from '../../api/tracking/goods.ts'
import type { OrderPageView } from '../../api/tracking/order-view.ts'
import { copied } from '../frame/copied.ts'
import { type Html, html } from '../frame/html.ts'
import { qrSvg } from '../frame/qr.ts'
import type { Texts } from '../texts/en.ts'
import { orderPagePath } from '../visit/paths.ts'
import { creditedText } from './credited.ts'
import { installOf } from './esim-install.ts'
import { fact } from './parts.ts'

type Goods = Extract<GoodsShown, { readonly type: 'goods' }>

/** The button that shows the goods; nothing of them is in the page before. */
export function closedGoods({ id, kind }: OrderPageView, { orders: { goods } }: Texts): Html {
  return html`<section class="sheet yours" aria-labelledby="goods">
<h2 id="goods">${goods.title[kind]}</h2>
<p>${goods.ready}</p>
<form method="post" action="${orderPagePath(id)}/goods">
<p class="act"><button class="button" type="submit">${goods.show[kind]}</button></p>
</form>
</section>`
}

/** The goods themselves, each part of them ready to be copied. */
export function openGoods({ id }: OrderPageView, shown: Goods, texts: Texts): Html {
  const { goods } = texts.orders
  const body = {
    voucher: voucherPart,
    topup: topupPart,
    esim: esimPart,
  }[shown.kind]
  return html`<section class="sheet yours open" aria-labelledby="goods">
<h2 id="goods" tabindex="-1">${goods.title[shown.kind]}</h2>
${body(shown.goods, texts)}
<p class="hide"><a href="${orderPagePath(id)}">${goods.hide}</a></p>
</section>`
}

type GoodsBody = Goods['goods']

function voucherPart(goods: GoodsBody, texts: Texts): Html {
  const words = texts.orders.goods
  return html`<dl class="given">
${copyFact('code', words.code, textIn(goods, 'code'), texts)}${copyFact('pin', words.pin, textIn(goods, 'pin'), texts)}${copyFact('confirmation', words.confirmation, textIn(goods, 'confirmationNumber'), texts)}${fact(words.expires, textIn(goods, 'expiresAt')?.replace(/T\d\d:.*$/, ''))}${fact(words.redeemAt, linkOrText(textIn(goods, 'redemptionUrl')))}
</dl>
${prose(words.instructions, textIn(goods, 'instructions'))}
${folded(words.terms, textIn(goods, 'terms'))}`
}

function topupPart(goods: GoodsBody, texts: Texts): Html {
  const words = texts.orders.goods
  return html`<p class="good">${words.creditedText}</p>
<dl class="given">
${fact(words.number, masked(textIn(goods, 'msisdn')))}${fact(words.credited, creditedText(goods['credited']))}${copyFact('confirmation', words.confirmation, textIn(goods, 'confirmationNumber'), texts)}
</dl>`
}

function esimPart(goods: GoodsBody, texts: Texts): Html {
  const { esim, goods: words } = texts.orders
  const lpa = textIn(goods, 'lpa')
  const install = lpa === undefined ? undefined : installOf(lpa)
  return html`${install && installPart(install, texts)}
<h3>${esim.byHand}</h3>
<dl class="given">
${copyFact('lpa', esim.lpa, lpa, texts)}${copyFact('smdp', esim.smdp, install?.smdpAddress ?? textIn(goods, 'smdpAddress'), texts)}${copyFact('matching', esim.matching, install?.matchingId ?? textIn(goods, 'activationCode'), texts)}${copyFact('iccid', esim.iccid, textIn(goods, 'iccid'), texts)}
</dl>
${prose(words.instructions, textIn(goods, 'instructions'))}
${steps(esim.stepsIos, [esim.ios1, esim.ios2, esim.ios3])}
${steps(esim.stepsAndroid, [esim.android1, esim.android2, esim.android3])}`
}

function installPart({ lpa, iosUrl, androidUrl }: ReturnType<typeof installOf>, texts: Texts) {
  const { esim } = texts.orders
  return html`<div class="install">
<figure>${qrSvg(lpa, esim.qr(lpa))}
<figcaption>${esim.scan}</figcaption></figure>
<div>
<h3>${esim.here}</h3>
<p class="act"><a class="button" href="${iosUrl}" rel="noopener noreferrer">${esim.ios}</a><small>${esim.iosNote}</small></p>
<p class="act"><a class="button" href="${androidUrl}" rel="noopener noreferrer">${esim.android}</a><small>${esim.androidNote}</small></p>
<p class="hint">${esim.once}</p>
</div>
</div>`
}

function steps(title: string, lines: readonly string[]): Html {
  return html`<details id="${title.replace(/\W+/g, '-').toLowerCase()}"><summary>${title}</summary>
<ol class="how">${lines.map((line) => html`<li>${line}</li>`)}</ol></details>`
}

function copyFact(id: string, name: string, value: string | undefined, texts: Texts) {
  return value === undefined ? undefined : fact(name, copied(`goods-${id}`, value, name, texts))
}

function prose(title: string, text: string | undefined): Html | undefined {
  if (text === undefined) return undefined
  return html`<h3>${title}</h3>
<p class="said">${text}</p>`
}

function folded(title: string, text: string | undefined): Html | undefined {
  if (text === undefined) return undefined
  return html`<details id="terms"><summary>${title}</summary>
<p class="said">${text}</p></details>`
}

/** Suppliers write what they like into an address; only one of the web is made a link. */
function linkOrText(text: string | undefined): Html | undefined {
  if (text === undefined) return undefined
  if (!/^https:\/\//.test(text)) return html`<span class="said">${text}</span>`
  return html`<a href="${text}" rel="noopener noreferrer">${text}</a>`
}

/** Enough of a number to know it again: the country and the last digits. */
export function masked(number: string | undefined): string | undefined {
  if (number === undefined) return undefined
  const shown = Math.min(3, Math.max(0, number.length - 6))
  return `${number.slice(0, 3)} ••• ••• ${number.slice(number.length - shown)}`.trim()
}

function textIn(goods: GoodsBody, name: string): string | undefined {
  const value = goods[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}
