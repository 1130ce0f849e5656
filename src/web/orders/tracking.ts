import type { FastifyRequest } from 'fastify'
import type { MailDeps } from '../../api/tracking/find.ts'
import {
  type OrderPageView,
  type OrderTrackingDeps,
  viewOf,
} from '../../api/tracking/order-view.ts'
import type { PageCredentials } from '../../api/tracking/tokens.ts'
import type { Limits } from '../../http/gate.ts'
import type { Frame } from '../frame/layout.ts'
import { accessIn, walletIn } from '../visitor.ts'

export interface TrackingDeps {
  readonly follow: OrderTrackingDeps
  readonly mail?: MailDeps | undefined
  readonly limits: Pick<Limits, 'refused' | 'mail' | 'mailbox' | 'mailing'>
}

export interface TrackingRoutes extends TrackingDeps {
  readonly frame: Frame
}

export type OrderRequest = FastifyRequest<{ Params: { orderId: string } }>

export function pageCredentialsOf(request: FastifyRequest): PageCredentials {
  return { token: accessIn(request), wallet: walletIn(request) }
}

export function look({ follow }: TrackingRoutes, request: OrderRequest): Promise<OrderPageView> {
  return viewOf(follow, request.params.orderId, pageCredentialsOf(request))
}
