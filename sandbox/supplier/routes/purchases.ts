import type { FastifyInstance } from 'fastify'
import { notFound, parsed } from '../api-error.ts'
import { families } from '../catalog/catalog.ts'
import type { Deps } from '../deps.ts'
import type { Family, Purchase } from '../models.ts'
import { filtered, pageOf, pagingOf } from '../page.ts'
import { inputs, type PurchaseInput } from '../purchase-input.ts'
import { accept, shown } from '../purchases.ts'

function inputOf(family: Family, body: unknown): PurchaseInput {
  switch (family) {
    case 'vouchers':
      return { family, ...parsed(inputs.vouchers, body) }
    case 'topups':
      return { family, ...parsed(inputs.topups, body) }
    case 'esim':
      return { family, ...parsed(inputs.esim, body) }
    default:
      return family satisfies never
  }
}

/** The records of a family, newest first. */
function recordsOf(deps: Deps, family: Family): readonly Purchase[] {
  return deps.ledger
    .all()
    .flatMap((entry) =>
      entry.type === 'purchase' && entry.family === family ? (shown(deps, entry) ?? []) : [],
    )
    .reverse()
}

/** Routes that buy, look up a purchase, and list purchases. */
export function purchaseRoutes(app: FastifyInstance, deps: Deps): void {
  for (const family of families) {
    const path = `/v1/${family}/purchases`
    app.post(path, (request) => {
      const { id, record } = accept(deps, inputOf(family, request.body), new Date())
      return { status: record.status, transactionId: id }
    })
    app.get(path, (request) => {
      const paging = pagingOf(request.query)
      return pageOf(filtered(recordsOf(deps, family), request.query), paging)
    })
    app.get<{ Params: { id: string } }>(`${path}/:id`, (request) => {
      const stored = deps.ledger.purchase(request.params.id)
      const record = stored?.family === family ? shown(deps, stored) : undefined
      if (!record) throw notFound(`The transaction ${request.params.id}`)
      return record
    })
  }
}
