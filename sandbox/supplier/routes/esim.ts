import type { FastifyInstance } from 'fastify'
import { notFound } from '../api-error.ts'
import { lpaOf } from '../delivery.ts'
import type { Deps } from '../deps.ts'
import type { EsimPurchase } from '../models.ts'
import { qrPng } from '../png.ts'
import { refund, refundOf } from '../refunds.ts'

type ById = { Params: { id: string } }

function plansOf(deps: Deps, iccid: string): readonly EsimPurchase[] {
  return deps.ledger.all().flatMap((entry) => {
    if (entry.type !== 'purchase' || entry.record.productType !== 'ESIM') return []
    return entry.record.confirmation?.iccid === iccid ? [entry.record] : []
  })
}

/**
 * The plans of an eSIM: the first is active, the others are queued, and refunded ones are gone. Usage is not
 * simulated.
 */
function shownPlans(purchases: readonly EsimPurchase[], iccid: string) {
  const left = purchases.filter((purchase) => purchase.refund?.status !== 'DONE')
  const list = left.map((purchase, index) => {
    const startAt = new Date(purchase.updatedAt)
    const endAt = new Date(startAt.getTime() + purchase.durationDays * 86_400_000)
    const active = { startAt: startAt.toISOString(), endAt: endAt.toISOString() }
    return {
      description: purchase.shortNotes,
      iccid,
      initialDataGB: purchase.dataGB,
      offerId: purchase.offerId,
      remainingDataGB: purchase.dataGB,
      status: index === 0 ? 'ACTIVE' : 'QUEUED',
      unlimited: purchase.dataUnlimited,
      ...(index === 0 ? active : {}),
    }
  })
  return { firstInstalledAt: purchases[0]?.updatedAt ?? '', list, total: list.length }
}

/** Routes that only eSIMs have: QR code, plans on a card, refund. */
export function esimRoutes(app: FastifyInstance, deps: Deps): void {
  app.get<ById>('/v1/esim/purchases/:id/qrcode', (request, reply) => {
    const record = deps.ledger.purchase(request.params.id)?.record
    const confirmation = record?.productType === 'ESIM' ? record.confirmation : undefined
    if (!confirmation) throw notFound(`The QR code of ${request.params.id}`)
    const image = qrPng(lpaOf(confirmation))
    if (request.headers.accept?.includes('application/json')) {
      return { imageBase64: image.toString('base64') }
    }
    return reply.type('image/png').send(image)
  })
  app.post<ById>('/v1/esim/purchases/:id/refund', (request) => {
    return { status: refund(deps, request.params.id).record.status }
  })
  app.get<ById>('/v1/esim/purchases/:id/refund', (request) => {
    const found = refundOf(deps.ledger, request.params.id)
    if (!found) throw notFound(`A refund of ${request.params.id}`)
    return found.record
  })
  app.get<{ Params: { iccid: string } }>('/v1/esim/:iccid/plans', (request) => {
    const { iccid } = request.params
    const purchases = plansOf(deps, iccid)
    if (purchases.length === 0) throw notFound(`The eSIM ${iccid}`)
    return shownPlans(purchases, iccid)
  })
}
