import type { FastifyReply, FastifyRequest } from 'fastify'
import type { OrderTrackingDeps } from '../../api/tracking/deps.ts'
import type { MailDeps } from '../../api/tracking/mail.ts'
import type { PageCredentials } from '../../api/tracking/order-view.ts'
import type { Limits } from '../../http/rate-limit.ts'
import { document, type Frame, type Page } from '../frame/layout.ts'
import { type PageNeeds, pageHeaders } from '../frame/page-headers.ts'
import { accessIn, walletIn } from '../visit/access.ts'
import { privately } from '../visit/privately.ts'

/** What the pages of orders are served with. */
export interface TrackingDeps {
  readonly follow: OrderTrackingDeps
  /** Absent where the store sends no mail. */
  readonly mail?: MailDeps | undefined
  readonly limits: Pick<Limits, 'mail' | 'mailbox' | 'mailing'>
}

export interface TrackingRoutes extends TrackingDeps {
  readonly frame: Frame
}

/** A token, or a link with one, is below 600 bytes. */
const maxForm = 2_048
export const reads = { config: { limit: 'reading' } } as const
export const takes = { config: { limit: 'reading' }, bodyLimit: maxForm } as const
/** What asks wallets, mail servers or the refund to do something. */
export const acts = { config: { limit: 'purchase' }, bodyLimit: 16_384 } as const

export type OrderRequest = FastifyRequest<{ Params: { orderId: string } }>

/** What this browser was given to open orders with. */
export function pageCredentialsOf(request: FastifyRequest): PageCredentials {
  return { token: accessIn(request), wallet: walletIn(request) }
}

/**
 * Sends a page that is for one visitor: nobody keeps it, no index lists it, and no other host hears
 * of it, an operator's logo neither.
 */
export function sendPrivately(
  reply: FastifyReply,
  { frame }: Pick<TrackingRoutes, 'frame'>,
  page: Page,
  needs: PageNeeds = { sendsForm: true, asksUs: true },
): FastifyReply {
  const own = { ...frame, site: { ...frame.site, logo: '/logo.svg' } }
  return privately(reply)
    .headers(pageHeaders([], needs))
    .type('text/html; charset=utf-8')
    .send(document(own, page))
}
