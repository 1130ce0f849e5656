import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { goods } from '../../goods/good.ts'
import type { Kind } from '../../goods/offer.ts'
import type { OfferId } from '../../primitives/ids.ts'
import { Refusal } from '../../primitives/refusal.ts'
import { revalidate, sendCacheable } from '../caching.ts'
import type { ReadDeps } from '../deps.ts'
import { readParams } from '../params.ts'
import { offerDetail } from '../views/catalog-offer.ts'
import type { Published } from '../views/discovery-offer.ts'
import { browseEsims } from './esims.ts'
import { browseTopups, listTopupRegions } from './topups.ts'
import { browseVouchers, voucherFilters } from './vouchers.ts'
import { brandItems, countryItems, wholeList } from './whole-list.ts'

/** Where the catalog interface lives (service.md). */
const catalogPrefix = '/api/catalog'

type Answer = (url: string, deps: ReadDeps) => Published

/** The reading part of the catalog interface: free, for anyone. */
export function routeCatalogReading(app: FastifyInstance, deps: ReadDeps): void {
  const read = (path: string, answer: Answer) =>
    app.get(`${catalogPrefix}${path}`, limited, (request, reply) =>
      send(request, reply, answer(request.raw.url ?? '', deps)),
    )
  read('/vouchers/offers', browseVouchers)
  read('/vouchers/brands', listVoucherBrands)
  read('/vouchers/countries', listCountries('voucher'))
  read('/vouchers/filters', voucherFilters)
  read('/topups/offers', browseTopups)
  read('/topups/countries', listCountries('topup'))
  read('/topups/regions', listTopupRegions)
  read('/esims/offers', browseEsims)
  for (const kind of ['voucher', 'topup', 'esim'] as const) routeDetail(app, kind, deps)
}

const limited = { config: { limit: 'reading' } } as const

function routeDetail(app: FastifyInstance, kind: Kind, deps: ReadDeps): void {
  const path = `${catalogPrefix}/${goods[kind].plural}/offers/:id`
  app.get<{ Params: { id: string } }>(path, limited, (request, reply) => {
    readParams(request.raw.url ?? '', {})
    return send(request, reply, detailOf(kind, request.params.id, deps))
  })
}

function detailOf(kind: Kind, id: string, { shelf, pricing, site }: ReadDeps): Published {
  const offer = shelf.current().byId.get(id as OfferId)
  if (offer?.kind !== kind) {
    throw new Refusal('offer_not_found', `There is no ${kind} offer with this id.`, {
      parameter: 'id',
    })
  }
  return offerDetail(offer, { siteUrl: site.url, pricing })
}

function listVoucherBrands(url: string, { shelf }: ReadDeps): Published {
  readParams(url, {})
  return wholeList(brandItems(shelf.current().index.voucher))
}

function listCountries(kind: Kind): Answer {
  return (url, { shelf }) => {
    readParams(url, {})
    return wholeList(countryItems(shelf.current().index[kind]))
  }
}

function send(request: FastifyRequest, reply: FastifyReply, body: Published): FastifyReply {
  return sendCacheable(request, reply, { body, cacheControl: revalidate })
}
