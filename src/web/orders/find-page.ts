import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  findPath,
  orderNamedBy,
  ordersOfSession,
  sessionForWallet,
  walletChallenge,
} from '../../api/tracking/find.ts'
import { type OrderPageView, viewOf } from '../../api/tracking/order-view.ts'
import { endSession, linkTokenForCode, sessionSeconds } from '../../api/tracking/tokens.ts'
import { countRefused, lookAtRefused } from '../../http/gate.ts'
import type { OrderId } from '../../lib/ids.ts'
import { Refusal } from '../../lib/refusal.ts'
import { type Html, html } from '../frame/html.ts'
import type { Page } from '../frame/layout.ts'
import { codeAttributes, onlyField, timeOf } from '../frame/parts.ts'
import { privately, sendPrivately } from '../frame/senders.ts'
import { orderPagePath, payPath } from '../paths.ts'
import type { MessageId, Texts } from '../texts/texts.ts'
import {
  acts,
  formIn,
  readsOrders,
  readToken,
  rememberOrder,
  rememberWallet,
  routeForm,
  walletIn,
} from '../visitor.ts'
import { createPost, type MailPart, mailForm, takeMail } from './order-mail.ts'
import { accessForm, lostBoth } from './parts.ts'
import type { TrackingRoutes } from './tracking.ts'

export function routeFindPage(pages: FastifyInstance, routes: TrackingRoutes): void {
  const { follow } = routes
  pages.get(findPath, readsOrders, (request, reply) => sendFind(request, reply, routes))
  routeForm(pages, `${findPath}/payment`, readsOrders, (request, reply) =>
    byNumber(request, reply, routes),
  )
  routeForm(pages, `${findPath}/challenge`, readsOrders, async (request: FastifyRequest, reply) => {
    const challenge = walletChallenge(follow, formIn(request).get('address') ?? '')
    if (challenge === undefined) return privately(reply.code(422)).send({ error: 'no address' })
    return privately(reply).send(challenge)
  })
  routeForm(pages, `${findPath}/wallet`, acts, (request, reply) => byWallet(request, reply, routes))
  routeForm(pages, `${findPath}/leave`, readsOrders, async (request: FastifyRequest, reply) => {
    await endSession(follow, walletIn(request))
    rememberWallet(reply, { sessionToken: '', seconds: 0, siteUrl: follow.site.url })
    return privately(reply).redirect(findPath, 303)
  })
  routeByMail(pages, routes)
}

/** Every address gets the same answer at once, so that nobody learns which addresses are known. */
function routeByMail(pages: FastifyInstance, routes: TrackingRoutes): void {
  if (routes.mail === undefined) return
  const post = createPost(pages, routes)
  routeForm(pages, `${findPath}/mail`, readsOrders, async (request: FastifyRequest, reply) => {
    return sendFind(request, reply, routes, { mail: await takeMail(request, reply, routes, post) })
  })
}

/**
 * An order or payment number leads to its page. A transaction or address, which everyone can read on the
 * chain, leads only to the state of its order, and its buyer can open the page from there.
 */
async function byNumber(request: FastifyRequest, reply: FastifyReply, routes: TrackingRoutes) {
  const form = formIn(request)
  const typed = (form.get('number') ?? '').slice(0, 300)
  const named = await orderNamedBy(routes.follow, typed)
  switch (named.type) {
    case 'order':
      return privately(reply).redirect(orderPagePath(named.id), 303)
    case 'checkout':
      return privately(reply).redirect(payPath(named.id), 303)
    case 'public':
      return byPublic(request, reply, routes, { id: named.id, typed, token: form.get('token') })
    default: {
      const status = named.type === 'wrong' ? 422 : 404
      return sendFind(request, reply.code(status), routes, {
        number: { typed, result: named.type },
      })
    }
  }
}

/** Shows anyone the state of an order. Opens its page for a visitor with its link, its code or its wallet. */
async function byPublic(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: TrackingRoutes,
  { id, typed, token: text }: { id: OrderId; typed: string; token: string | null },
) {
  const { follow } = routes
  const token = readToken(text) ?? linkTokenForCode(follow, id, text ?? '')
  const credentials = { token, wallet: walletIn(request) }
  const view = await viewOf(follow, id, credentials)
  if (view.own) {
    const { checkout } = view
    if (token !== undefined) {
      rememberOrder(reply, { orderId: id, checkout, token, siteUrl: follow.site.url })
    }
    return privately(reply).redirect(orderPagePath(id), 303)
  }
  const isWrong = text !== null
  const page = { number: { typed }, found: { view, typed, isWrong } }
  return sendFind(request, isWrong ? reply.code(422) : reply, routes, page)
}

/** Remembers the wallet that signed for a while. The limit on refused proofs elsewhere reads only headers. */
async function byWallet(request: FastifyRequest, reply: FastifyReply, routes: TrackingRoutes) {
  const { limits, follow } = routes
  const { refused } = limits
  const refusal = await lookAtRefused(refused, request, reply)
  if (refusal !== undefined) throw refusal
  try {
    const signed = formIn(request).get('signed') ?? ''
    const sessionToken = await sessionForWallet(follow, signed)
    if (sessionToken === undefined) {
      return sendFind(request, reply.code(422), routes, { wallet: { result: 'failed' } })
    }
    rememberWallet(reply, { sessionToken, seconds: sessionSeconds, siteUrl: follow.site.url })
    return privately(reply).redirect(findPath, 303)
  } catch (error) {
    await countRefused(refused, request)
    if (!(error instanceof Refusal) || error.code !== 'sign_in_invalid') throw error
    return sendFind(request, reply.code(401), routes, { wallet: { result: 'failed' } })
  }
}

async function sendFind(
  request: FastifyRequest,
  reply: FastifyReply,
  routes: TrackingRoutes,
  parts: Pick<FindPageParts, 'number' | 'found' | 'mail' | 'wallet'> = {},
) {
  const { frame, follow } = routes
  const page = findPage({
    t: frame.t,
    contact: frame.site.contact,
    recentUrl: frame.scriptUrl('recent.js'),
    ...(routes.mail === undefined ? {} : { mail: {} }),
    ...parts,
    list: await ordersOfSession(follow, walletIn(request)),
  })
  return sendPrivately(reply, frame, page)
}

type WalletList = NonNullable<Awaited<ReturnType<typeof ordersOfSession>>>
type ListedOrder = WalletList['items'][number]

interface PublicOrder {
  readonly view: OrderPageView
  readonly typed: string
  readonly isWrong: boolean
}

interface FindPageParts {
  readonly t: Texts
  readonly recentUrl: string
  readonly contact: string
  readonly number?: { readonly typed: string; readonly result?: 'wrong' | 'none' } | undefined
  readonly found?: PublicOrder | undefined
  readonly mail?: MailPart | undefined
  readonly wallet?: { readonly result: 'failed' } | undefined
  readonly list?: WalletList | undefined
}

export function findPage(parts: FindPageParts): Page {
  const { t, list } = parts
  return {
    title: t('find.title'),
    description: t('find.description'),
    scripts: ['sign-in.js'],
    main: html`<div class="following find">
<section class="stage" aria-labelledby="find">
<h1 id="find">${t('find.title')}</h1>
<p class="lead">${t('find.intro')}</p>
</section>
${list && listPart(list, t)}
${parts.found && publicOrderPart(parts.found, parts.contact, t)}
${recentPart(parts)}
${numberPart(parts)}
${!list && walletPart(parts)}
${parts.mail && mailForm('/find/mail', 'find.mail', parts.mail, t)}
</div>`,
  }
}

/**
 * The orders that this browser has opened. The script fills this part from the browser's storage and shows it. It is
 * not a module, so that it runs before the rest of the page is painted; otherwise the rest would move down.
 */
function recentPart({ t, recentUrl }: FindPageParts): Html {
  return html`<section class="sheet" aria-labelledby="recent-title" id="recent" hidden="hidden">
<h2 id="recent-title">${t('find.recent.title')}</h2>
<p id="recent-none">${t('find.recent.none')}</p>
<ul class="order-list"></ul>
<p><label><input type="checkbox" id="recent-kept" checked="checked"> ${t('find.recent.keep')}</label></p>
<p class="hint">${t('find.recent.text')}</p>
</section>
<script src="${recentUrl}"></script>`
}

function numberPart({ number, t }: FindPageParts): Html {
  const field = {
    name: 'number',
    label: t('find.number.label'),
    hint: t('find.number.help'),
    fault: number?.result && t(`find.number.${number.result}`),
    value: number?.typed ?? '',
    isRequired: true,
    attributes: { ...codeAttributes, maxlength: '300' },
  }
  return html`<section class="sheet" aria-labelledby="by-number">
<h2 id="by-number">${t('find.number.title')}</h2>
<form method="post" action="/find/payment">
${onlyField(field, t)}
<p class="act"><button class="button" type="submit">${t('find.number.find')}</button></p>
</form>
</section>`
}

/** The state of an order, which anyone who knows its payment may see, and the form that opens it. */
function publicOrderPart({ view, typed, isWrong }: PublicOrder, contact: string, t: Texts): Html {
  const fault = isWrong ? t('orders.locked.wrong') : undefined
  return html`<section class="sheet" aria-labelledby="found">
<h2 id="found">${t('find.found.title')}</h2>
<p>${t(`orders.states.${view.stage}`)}</p>
${accessForm({ action: '/find/payment', number: typed, fault }, t)}
${lostBoth(contact, typed, t)}
</section>`
}

function walletPart({ wallet, t }: FindPageParts): Html {
  return html`<section class="sheet" aria-labelledby="by-wallet">
<h2 id="by-wallet">${t('find.wallet.title')}</h2>
<p>${t('find.wallet.text')}</p>
<form method="post" action="/find/wallet" data-sign-in="/find/challenge" data-connect="${t('find.wallet.connect')}" data-searching="${t('find.wallet.searching')}" data-refused="${t('find.wallet.refused')}" data-offline="${t('find.wallet.offline')}" data-working="${t('find.wallet.working')}">
<input type="hidden" name="signed" value="">
<div class="wallet-list"></div>
<p class="${wallet ? 'wrong' : 'hint'}" role="status">${wallet ? t('find.wallet.failed') : undefined}</p>
</form>
<noscript><p class="hint">${t('find.wallet.noScript')}</p></noscript>
</section>`
}

type ListedState = {
  [Id in MessageId]: Id extends `find.list.states.${infer State}` ? State : never
}[MessageId]

function listPart({ wallet, total, items }: WalletList, t: Texts): Html {
  const line = (one: ListedOrder) => html`
<li><a href="${orderPagePath(one.orderId)}"><b>${one.brandName}</b> <span>${t(`find.list.states.${(one.refund_state ?? one.state) as ListedState}`)}</span> ${timeOf(new Date(one.placed_at), t)}</a></li>`
  return html`<section class="sheet" aria-labelledby="list">
<h2 id="list">${t('find.list.title')}</h2>
<p class="hint">${t('find.list.wallet')} <code>${wallet}</code></p>
${items.length === 0 && html`<p>${t('find.list.none')}</p>`}
<ul class="order-list">${items.map(line)}
</ul>
${total > items.length && html`<p class="hint">${t('find.list.more', { shown: items.length, total })}</p>`}
<form method="post" action="/find/leave"><p class="act"><button class="button quiet" type="submit">${t('find.list.leave')}</button></p></form>
</section>`
}
