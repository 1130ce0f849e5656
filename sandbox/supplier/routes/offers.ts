import type { FastifyInstance } from 'fastify'
import { z } from 'zod'
import { notFound, parsed } from '../api-error.ts'
import { families } from '../catalog/catalog.ts'
import type { Deps } from '../deps.ts'
import type { Fault, Faults } from '../faults.ts'
import type { Offer } from '../models.ts'
import { pageOf, pagingOf } from '../page.ts'

const filterSchema = z.object({
  brand: z.string().optional(),
  country: z.string().optional(),
  regions: z.string().optional(),
  subType: z.string().optional(),
})
type Filter = z.infer<typeof filterSchema>

function fits(offer: Offer, { brand, country, regions, subType }: Filter): boolean {
  return (
    (brand === undefined || offer.brand === brand) &&
    (country === undefined || offer.country === country) &&
    (subType === undefined || offer.subTypes.includes(subType)) &&
    (regions === undefined || regions.split(',').some((name) => offer.regions.includes(name)))
  )
}

/** The offers that a caller sees, by the filter and the current fault. */
function visible(all: readonly Offer[], filter: Filter, fault: Fault): readonly Offer[] {
  const present = fault.mode === 'shrink' ? all.slice(0, Math.floor(all.length * fault.share)) : all
  const plain = Object.values(filter).every((value) => value === undefined)
  return plain ? present : present.filter((offer) => fits(offer, filter))
}

function offersPage(offers: readonly Offer[], query: unknown, faults: Faults) {
  const paging = pagingOf(query)
  const fault = faults.get()
  const all = paging.offset > 0 ? shifted(offers, faults) : offers
  const page = pageOf(visible(all, parsed(filterSchema, query), fault), paging)
  if (fault.mode === 'partial') {
    return { ...page, list: page.list.slice(0, Math.max(0, fault.after - paging.offset)) }
  }
  return fault.mode === 'lie' ? { ...page, total: fault.total } : page
}

/** The list unchanged or, during the fault `shift`, with its first offer at its end. */
function shifted(offers: readonly Offer[], faults: Faults): readonly Offer[] {
  const fault = faults.get()
  if (fault.mode !== 'shift' || fault.reads === 0) return offers
  faults.set({ ...fault, reads: fault.reads - 1 })
  return [...offers.slice(1), ...offers.slice(0, 1)]
}

/** Routes of the offer lists of the three families, and of single offers. */
export function offerRoutes(app: FastifyInstance, deps: Deps): void {
  for (const family of families) {
    app.get(`/v1/${family}/offers`, (request) =>
      offersPage(deps.catalog.lists[family], request.query, deps.faults),
    )
    app.get<{ Params: { offerId: string } }>(`/v1/${family}/offers/:offerId`, (request) => {
      const offer = deps.catalog.find(family, request.params.offerId)
      if (!offer) throw notFound(`The offer ${request.params.offerId}`)
      return offer
    })
  }
}
