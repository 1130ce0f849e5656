import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { notFound, parsed } from '../api-error.ts'
import type { Deps } from '../deps.ts'
import { faultSchema } from '../faults.ts'
import type { StoredPurchase } from '../ledger.ts'
import { mannerSchema } from '../manners.ts'
import { move } from '../purchases.ts'

const balance = z.object({ availableBalance: z.int().min(0) })
const offerChange = z.object({
  offerId: z.string(),
  price: z.int().positive().optional(),
  enabled: z.boolean().optional(),
})
const mannerChange = mannerSchema.extend({ offerId: z.string() })
const verdict = z.object({ transactionId: z.string(), status: z.enum(['DONE', 'FAILED']) })

/** The secrets that a purchase delivered, which must never appear in a log. */
function secretsOf({ record }: StoredPurchase): readonly string[] {
  if (record.productType === 'VOUCHER') return record.receipt ? [record.receipt.epin] : []
  if (record.productType === 'ESIM')
    return record.confirmation ? [record.confirmation.activationCode] : []
  return []
}

function audited(stored: StoredPurchase) {
  const { id, family, held, charged, refunded, record } = stored
  return {
    transactionId: id,
    family,
    offerId: record.offerId,
    status: record.status,
    cost: record.cost,
    held,
    charged,
    refunded,
    deliveries: record.log.filter(({ status }) => status === 'DONE').length,
    secrets: secretsOf(stored),
  }
}

/**
 * Only in the sandbox, with the same key: routes that set the wallet, faults, manners, offers and the end of a
 * purchase, and an audit of all purchases. Amounts are in US cents.
 */
export function adminRoutes(app: FastifyInstance, deps: Deps): void {
  app.post('/_admin/balance', (request) => {
    const { availableBalance } = parsed(balance, request.body)
    deps.ledger.commit([], { ...deps.ledger.wallet(), available: availableBalance })
    return deps.ledger.wallet()
  })
  app.get('/_admin/faults', () => deps.faults.get())
  app.post('/_admin/faults', (request) => {
    deps.faults.set(parsed(faultSchema as z.ZodType<z.infer<typeof faultSchema>>, request.body))
    return deps.faults.get()
  })
  app.post('/_admin/manners', (request) => {
    const { offerId, ...manner } = parsed(
      mannerChange as z.ZodType<z.infer<typeof mannerChange>>,
      request.body,
    )
    deps.manners.set(offerId, manner)
    return manner
  })
  app.post('/_admin/offers', (request) => {
    const { offerId, price, enabled } = parsed(offerChange, request.body)
    const change = {
      ...(price === undefined ? {} : { price }),
      ...(enabled === undefined ? {} : { enabled }),
    }
    const offer = deps.catalog.change(offerId, change)
    if (!offer) throw notFound(`The offer ${offerId}`)
    return offer
  })
  app.post('/_admin/purchases', (request) => {
    const { transactionId, status } = parsed(verdict, request.body)
    move(deps, transactionId, status)
    const stored = deps.ledger.purchase(transactionId)
    if (!stored) throw notFound(`The transaction ${transactionId}`)
    return audited(stored)
  })
  app.get('/_admin/ledger', () => {
    const all = deps.ledger.all()
    const purchases = all.filter((entry) => entry.type === 'purchase').map(audited)
    const refunds = all.filter((entry) => entry.type === 'refund').map((entry) => entry.record)
    return { wallet: deps.ledger.wallet(), purchases, refunds }
  })
}
