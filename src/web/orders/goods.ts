import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  openReveal,
  type Revealed,
  type RevealedGoods,
  revealPath,
} from '../../api/buying/reveal.ts'
import type { BuyingDeps } from '../../api/operation.ts'
import type { GoodsView, OrderPageView } from '../../api/tracking/order-view.ts'
import { type Html, html } from '../frame/html.ts'
import type { Frame, Page } from '../frame/layout.ts'
import { copied, fact, qrSvg } from '../frame/parts.ts'
import { sayPrivately, sendPrivately } from '../frame/senders.ts'
import { orderPagePath } from '../paths.ts'
import type { Texts } from '../texts/texts.ts'
import { formIn, reads, readsOrders } from '../visitor.ts'
import { linkPage } from './parts.ts'

type Goods = Extract<GoodsView, { readonly type: 'goods' }>

/** The button that shows the goods. Until it is pressed, the page does not contain them. */
export function closedGoods({ id, kind }: OrderPageView, t: Texts): Html {
  return html`<section class="sheet yours" aria-labelledby="goods">
<h2 id="goods">${t(`orders.goods.title.${kind}`)}</h2>
<p>${t('orders.goods.ready')}</p>
<form method="post" action="${orderPagePath(id)}/goods">
<p class="act"><button class="button" type="submit">${t(`orders.goods.show.${kind}`)}</button></p>
</form>
</section>`
}

export function openGoods(
  { kind, goods }: Pick<Goods, 'kind' | 'goods'>,
  t: Texts,
  hide?: Html,
): Html {
  const part = { voucher: voucherPart, topup: topupPart, esim: esimPart }[kind]
  return html`<section class="sheet yours${hide && ' open'}" aria-labelledby="goods">
<h2 id="goods" tabindex="-1">${t(`orders.goods.title.${kind}`)}</h2>
${part(goods, t)}
${hide}
</section>`
}

type GoodsBody = Goods['goods']

function voucherPart(goods: GoodsBody, t: Texts): Html {
  return html`<dl class="given">
${copyFact('code', t('orders.goods.code'), textIn(goods, 'code'), t)}${copyFact('pin', t('orders.goods.pin'), textIn(goods, 'pin'), t)}${fact(t('orders.goods.creditedCard'), creditedText(goods['credited']))}${copyFact('confirmation', t('orders.goods.confirmation'), textIn(goods, 'confirmationNumber'), t)}${fact(t('orders.goods.expires'), textIn(goods, 'expiresAt')?.replace(/T\d\d:.*$/, ''))}${fact(t('orders.goods.redeemAt'), linkOrText(textIn(goods, 'redemptionUrl')))}
</dl>
${prose(t('orders.goods.instructions'), textIn(goods, 'instructions'))}
${folded(t('orders.goods.terms'), textIn(goods, 'terms'))}`
}

function topupPart(goods: GoodsBody, t: Texts): Html {
  return html`<p class="good">${t('orders.goods.creditedText')}</p>
<dl class="given">
${fact(t('orders.goods.number'), masked(textIn(goods, 'msisdn')))}${fact(t('orders.goods.credited'), creditedText(goods['credited']))}${copyFact('confirmation', t('orders.goods.confirmation'), textIn(goods, 'confirmationNumber'), t)}
</dl>`
}

function esimPart(goods: GoodsBody, t: Texts): Html {
  const lpa = textIn(goods, 'lpa')
  const install = lpa === undefined ? undefined : installOf(lpa)
  return html`${install && installPart(install, t)}
<h3>${t('orders.esim.byHand')}</h3>
<dl class="given">
${copyFact('lpa', t('orders.esim.lpa'), lpa, t)}${copyFact('smdp', t('orders.esim.smdp'), install?.smdpAddress ?? textIn(goods, 'smdpAddress'), t)}${copyFact('matching', t('orders.esim.matching'), install?.matchingId ?? textIn(goods, 'activationCode'), t)}${copyFact('iccid', t('orders.esim.iccid'), textIn(goods, 'iccid'), t)}
</dl>
${prose(t('orders.goods.instructions'), textIn(goods, 'instructions'))}
${steps('ios', t('orders.esim.stepsIos'), [t('orders.esim.ios1'), t('orders.esim.ios2'), t('orders.esim.ios3')])}
${steps('android', t('orders.esim.stepsAndroid'), [t('orders.esim.android1'), t('orders.esim.android2'), t('orders.esim.android3')])}`
}

function installPart({ lpa, iosUrl, androidUrl }: ReturnType<typeof installOf>, t: Texts) {
  return html`<div class="install">
<figure>${qrSvg(lpa, t('orders.esim.qr', { lpa }))}
<figcaption>${t('orders.esim.scan')}</figcaption></figure>
<div>
<h3>${t('orders.esim.here')}</h3>
<p class="act"><a class="button" href="${iosUrl}" rel="noopener noreferrer">${t('orders.esim.ios')}</a><small>${t('orders.esim.iosNote')}</small></p>
<p class="act"><a class="button" href="${androidUrl}" rel="noopener noreferrer">${t('orders.esim.android')}</a><small>${t('orders.esim.androidNote')}</small></p>
<p class="hint">${t('orders.esim.once')}</p>
</div>
</div>`
}

function steps(id: string, title: string, lines: readonly string[]): Html {
  return html`<details id="steps-${id}"><summary>${title}</summary>
<ol class="how">${lines.map((line) => html`<li>${line}</li>`)}</ol></details>`
}

function copyFact(id: string, name: string, value: string | undefined, t: Texts) {
  return value === undefined ? undefined : fact(name, copied(`goods-${id}`, value, name, t))
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

/** Suppliers may put any text into this field; only an https URL becomes a link. */
function linkOrText(text: string | undefined): Html | undefined {
  if (text === undefined) return undefined
  if (!/^https:\/\//.test(text)) return html`<span class="said">${text}</span>`
  return html`<a href="${text}" rel="noopener noreferrer">${text}</a>`
}

/** Enough of a phone number to recognise it: its first and last digits. */
function masked(number: string | undefined): string | undefined {
  if (number === undefined) return undefined
  const lastDigits = Math.min(3, Math.max(0, number.length - 6))
  return `${number.slice(0, 3)} ••• ••• ${number.slice(number.length - lastDigits)}`.trim()
}

function textIn(goods: GoodsBody, name: string): string | undefined {
  const value = goods[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** Pages of Apple (iOS 17.4) and Google that phones open in their own installer. */
const iosInstaller = 'https://esimsetup.apple.com/esim_qrcode_provisioning'
const androidInstaller = 'https://esimsetup.android.com/esim_qrcode_provisioning'

/** The parts of a whole activation code (SGP.22 4.1), "LPA:1$host$id", and the pages that install it. */
function installOf(lpa: string) {
  const [, smdpAddress, matchingId] = lpa.split('$')
  const query = `?carddata=${encodeURIComponent(lpa)}`
  return {
    lpa,
    smdpAddress: smdpAddress || undefined,
    matchingId: matchingId || undefined,
    iosUrl: `${iosInstaller}${query}`,
    androidUrl: `${androidInstaller}${query}`,
  }
}

/** The amount that the supplier reports as credited, with its currency; undefined if it reports none. */
function creditedText(credited: unknown): string | undefined {
  if (typeof credited !== 'object' || credited === null) return undefined
  const { amount, currency, currencyDivisor } = credited as Readonly<Record<string, unknown>>
  const digits = String(currencyDivisor).length - 1
  return `${(Number(amount) / Number(currencyDivisor)).toFixed(digits)} ${String(currency)}`
}

const closedStatus: Readonly<Record<Exclude<Revealed['type'], 'goods'>, number>> = {
  not_yet: 409,
  never: 410,
  used: 410,
  expired: 410,
  unknown: 400,
}

/** The page of a one-view link. GET does not use up the link, because link previews open it. */
export function routeReveal(
  pages: FastifyInstance,
  { frame, buying }: { frame: Frame; buying: BuyingDeps },
): void {
  pages.get(revealPath, reads, (_, reply) =>
    sendPrivately(reply, frame, linkPage('reveal', revealPath, frame.t)),
  )
  pages.post(revealPath, readsOrders, async (request: FastifyRequest, reply) => {
    const opened = await openReveal(buying, formIn(request).get('token') ?? '')
    if (opened.type === 'goods') return sendPrivately(reply, frame, goodsPage(opened, frame.t))
    return sayPrivately(
      reply.code(closedStatus[opened.type]),
      frame,
      `reveal.closed.${opened.type}`,
    )
  })
}

function goodsPage({ orderId, kind, brandName, result }: RevealedGoods, t: Texts): Page {
  return {
    title: brandName,
    description: t('reveal.once'),
    scripts: ['copy.js'],
    main: html`<div class="following">
<section class="stage">
<p class="which">${t('orders.order')} <code>${orderId}</code></p>
<h1>${brandName}</h1>
<p class="lead">${t('reveal.once')}</p>
</section>
${openGoods({ kind, goods: result }, t)}
<p>${t('reveal.again')}</p>
</div>`,
  }
}
