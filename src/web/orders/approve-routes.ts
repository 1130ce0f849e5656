import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import {
  approvePath,
  decideApproval,
  type ShownApproval,
  showApproval,
} from '../../api/buying/approval.ts'
import type { BuyingDeps } from '../../api/deps.ts'
import { document, type Frame, type Page } from '../frame/layout.ts'
import { messagePage } from '../frame/message-page.ts'
import { pageHeaders } from '../frame/page-headers.ts'
import { titled } from '../texts/texts.ts'
import { formIn, isFromElsewhere } from '../visit/forms.ts'
import { privately } from '../visit/privately.ts'
import { approvePage } from './approve-page.ts'

type TokenRequest = FastifyRequest<{ Params: { readonly token: string } }>

/** What a page that asks nothing is to machines. */
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
/** One button, and nothing typed. */
const maxForm = 256

/**
 * The page on which a person approves a purchase above a limit. GET decides nothing, because previews
 * of links open it; what is decided is what a button of the page says.
 */
export function routeApprovals(
  pages: FastifyInstance,
  { frame, buying }: { frame: Frame; buying: BuyingDeps },
): void {
  const { t } = frame
  // An operator's logo may come from another host, which need not hear of these pages.
  const own = { ...frame, site: { ...frame.site, logo: '/logo.svg' } }
  const send = (reply: FastifyReply, page: Page) =>
    privately(reply)
      .headers(pageHeaders([]))
      .type('text/html; charset=utf-8')
      .send(document(own, page))

  pages.get(`${approvePath}/:token`, limited, async (request: TokenRequest, reply) => {
    const { token } = request.params
    const shown = await showApproval(buying.purchases, token, request.log)
    if (shown.type === 'asked') return send(reply, approvePage(token, shown, t))
    reply.code(closedStatus[shown.type])
    return send(reply, messagePage(titled(t, `approve.closed.${shown.type}`), t))
  })

  const posted = { ...limited, bodyLimit: maxForm }
  pages.post(`${approvePath}/:token`, posted, async (request: TokenRequest, reply) => {
    if (isFromElsewhere(request)) {
      return send(reply.code(403), messagePage(titled(t, 'approve.elsewhere'), t))
    }
    const { token } = request.params
    const decision = decisions[formIn(request).get('decision') ?? '']
    if (decision) await decideApproval(buying.purchases, token, decision, request.log)
    return privately(reply).redirect(`${approvePath}/${encodeURIComponent(token)}`, 303)
  })
}
