import type { FastifyInstance, FastifyRequest } from 'fastify'
import {
  approvePath,
  decideApproval,
  type ShownApproval,
  showApproval,
} from '../../api/buying/approval.ts'
import type { BuyingDeps } from '../../api/operation.ts'
import { formatUsdc, usdc } from '../../lib/money.ts'
import { html } from '../frame/html.ts'
import type { Frame, Page } from '../frame/layout.ts'
import { fact, timeOf } from '../frame/parts.ts'
import { privately, sayPrivately, sendPrivately } from '../frame/senders.ts'
import type { Texts } from '../texts/texts.ts'
import { formIn } from '../visitor.ts'

type TokenRequest = FastifyRequest<{ Params: { readonly token: string } }>

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

const limited = { config: { limit: 'reading' } } as const
/** In bytes: the form sends only the value of one button. */
const maxForm = 256

/** The page on which a person approves a purchase above a limit. GET decides nothing: link previews open it. */
export function routeApprovals(
  pages: FastifyInstance,
  { frame, buying }: { frame: Frame; buying: BuyingDeps },
): void {
  pages.get(`${approvePath}/:token`, limited, async (request: TokenRequest, reply) => {
    const { token } = request.params
    const approval = await showApproval(buying.purchases, token, request.log)
    if (approval.type === 'asked') {
      return sendPrivately(reply, frame, approvePage(token, approval, frame.t))
    }
    reply.code(closedStatus[approval.type])
    return sayPrivately(reply, frame, `approve.closed.${approval.type}`)
  })

  const posted = { ...limited, bodyLimit: maxForm }
  pages.post(`${approvePath}/:token`, posted, async (request: TokenRequest, reply) => {
    const { token } = request.params
    const decision = decisions[formIn(request).get('decision') ?? '']
    if (decision) await decideApproval(buying.purchases, token, decision, request.log)
    return privately(reply).redirect(`${approvePath}/${encodeURIComponent(token)}`, 303)
  })
}

function approvePage(
  token: string,
  { bought, most, payer, endsAt }: Extract<ShownApproval, { type: 'asked' }>,
  t: Texts,
): Page {
  return {
    title: t('approve.title'),
    description: t('approve.about'),
    main: html`<section class="message">
<h1>${t('approve.title')}</h1>
<p>${t('approve.about')}</p>
<dl class="facts">
${fact(t('approve.bought'), bought)}${fact(t('approve.most'), `${formatUsdc(usdc(most))} USDC`)}${fact(t('approve.payer'), html`<code>${payer}</code>`)}${fact(t('approve.ends'), timeOf(endsAt, t))}</dl>
<p class="hint">${t('approve.warning')}</p>
<form method="post" action="${approvePath}/${token}">
<p class="act"><button class="button" type="submit" name="decision" value="approve">${t('approve.yes')}</button>
<button class="button quiet" type="submit" name="decision" value="decline">${t('approve.no')}</button></p>
</form>
</section>`,
  }
}
