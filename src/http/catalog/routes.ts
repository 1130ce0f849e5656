import type { FastifyInstance } from 'fastify'
import { goods } from '../../goods/good.ts'
import type { Kind } from '../../goods/offer.ts'
import { Refusal } from '../../primitives/refusal.ts'
import type { AnswerCache } from '../answer-cache.ts'
import { revalidate, sendAnswer } from '../caching.ts'
import type { ReadDeps } from '../deps.ts'
import { type Question, wholeQuestion } from '../question.ts'
import type { Published } from '../views/discovery-offer.ts'
import { offerDetail } from '../views/offer-detail.ts'
import { browseEsims } from './esims.ts'
import { browseTopups, listTopupRegions } from './topups.ts'
import { browseVouchers, voucherFilters } from './vouchers.ts'
import { brandItems, countryItems, wholeList } from './whole-list.ts'

/** Where the catalog interface lives (service.md). */
const catalogPrefix = '/api/catalog'

type Read = (url: string, deps: ReadDeps) => Question
type CachedDeps = ReadDeps & { readonly answers: AnswerCache }

/** The reading part of the catalog interface: free, for anyone. */
export function routeCatalogReading(app: FastifyInstance, deps: CachedDeps): void {
  const read = (path: string, readQuestion: Read) =>
    app.get(`${catalogPrefix}${path}`, limited, (request, reply) => {
      const url = request.raw.url ?? ''
      const found = deps.answers.find(request.routeOptions.url ?? '', url, () =>
        readQuestion(url, deps),
      )
      return sendAnswer(request, reply, { found, cacheControl: revalidate })
    })
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

function routeDetail(app: FastifyInstance, kind: Kind, deps: CachedDeps): void {
  const path = `${catalogPrefix}/${goods[kind].plural}/offers/:id`
  app.get<{ Params: { id: string } }>(path, limited, (request, reply) => {
    const url = request.raw.url ?? ''
    const { id } = request.params
    const found = deps.answers.find(request.routeOptions.url ?? '', url, () => ({
      ...wholeQuestion(url, () => detailOf(kind, id, deps)),
      key: id,
    }))
    return sendAnswer(request, reply, { found, cacheControl: revalidate })
  })
}

function detailOf(kind: Kind, id: string, { shelf, pricing, site }: ReadDeps): Published {
  const offer = shelf.current().find(id)
  if (offer?.kind !== kind) {
    throw new Refusal('offer_not_found', `There is no ${kind} offer with this id.`, {
      parameter: 'id',
    })
  }
  return offerDetail(offer, { siteUrl: site.url, pricing })
}

function listVoucherBrands(url: string, { shelf }: ReadDeps): Question {
  return wholeQuestion(url, () => wholeList(brandItems(shelf.current().listed.voucher)))
}

function listCountries(kind: Kind): Read {
  return (url, { shelf }) =>
    wholeQuestion(url, () => wholeList(countryItems(shelf.current().listed[kind])))
}
