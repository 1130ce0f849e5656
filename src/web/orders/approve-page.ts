import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  approvePath,
  decideApproval,
  type ShownApproval,
  showApproval,
} from '../../api/buying/approval.ts'
import type { BuyingDeps } from '../../api/operation.ts'
import { formatUsdc, usdc } from '../../lib/money.ts'
import { labelOf } from '../buying/form.ts'
import { html } from '../frame/html.ts'
import type { Frame, Page } from '../frame/layout.ts'
import { fact, timeOf } from '../frame/parts.ts'
import { sayPrivately, sendPrivately } from '../frame/senders.ts'
import type { MessageId, Texts } from '../texts/texts.ts'
import { formIn, reads, readsOrders } from '../visitor.ts'
import { linkPage } from './parts.ts'

const closedStatus: Readonly<Record<Exclude<ShownApproval['type'], 'asked'>, number>> = {
  approved: 200,
  declined: 200,
  used: 410,
  ended: 410,
  unknown: 404,
}

const decisions: Readonly<Record<string, 'APPROVED' | 'DECLINED'>> = {
  approve: 'APPROVED',
  decline: 'DECLINED',
}

/**
 * The page on which a person approves a purchase above a limit. GET shows and decides nothing, because link previews
 * open it; the token comes with the form, which the page's script fills from the part after the `#`.
 */
export function routeApprovals(
  pages: FastifyInstance,
  { frame, buying }: { frame: Frame; buying: BuyingDeps },
): void {
  pages.get(approvePath, reads, (_, reply) =>
    sendPrivately(reply, frame, linkPage('approve.open', approvePath, frame.t)),
  )
  pages.post(approvePath, readsOrders, async (request: FastifyRequest, reply: FastifyReply) => {
    const form = formIn(request)
    const pasted = (form.get('token') ?? '').trim()
    const token = pasted.slice(pasted.lastIndexOf('#') + 1)
    const decision = decisions[form.get('decision') ?? '']
    if (decision) await decideApproval(buying.purchases, token, decision)
    const approval = await showApproval(buying.purchases, token)
    if (approval.type === 'asked') {
      return sendPrivately(reply, frame, approvePage(token, approval, frame.t))
    }
    reply.code(closedStatus[approval.type])
    return sayPrivately(reply, frame, `approve.closed.${approval.type}`)
  })
}

/** The fields of a purchase that no form of ours asks for. */
const labels: Readonly<Record<string, MessageId>> = {
  offerId: 'approve.fields.offerId',
  webhookUrl: 'approve.fields.webhookUrl',
  confirmNumber: 'approve.fields.confirmNumber',
}

function approvePage(
  token: string,
  { summary, fields, most, payer, endsAt }: Extract<ShownApproval, { type: 'asked' }>,
  t: Texts,
): Page {
  const fieldFacts = fields.map(([name, value]) => {
    const label = labels[name]
    return fact(label ? t(label) : labelOf(name, t), String(value))
  })
  return {
    title: t('approve.title'),
    description: t('approve.about'),
    main: html`<section class="message">
<h1>${t('approve.title')}</h1>
<p>${t('approve.about')}</p>
<dl class="facts">
${fact(t('approve.bought'), summary)}${fieldFacts}${fact(t('approve.most'), `${formatUsdc(usdc(most))} USDC`)}${fact(t('approve.payer'), html`<code>${payer}</code>`)}${fact(t('approve.ends'), timeOf(endsAt, t))}</dl>
<p class="hint">${t('approve.warning')}</p>
<form method="post" action="${approvePath}">
<input type="hidden" name="token" value="${token}">
<p class="act"><button class="button" type="submit" name="decision" value="approve">${t('approve.yes')}</button>
<button class="button quiet" type="submit" name="decision" value="decline">${t('approve.no')}</button></p>
</form>
</section>`,
  }
}
