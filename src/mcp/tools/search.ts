import { searchAll } from '../../api/discovery/search.ts'
import { offerDetail } from '../../api/offers.ts'
import type { ReadDeps } from '../../api/operation.ts'
import { findOffer } from '../../catalog/catalog.ts'
import { goods } from '../../catalog/kinds.ts'
import { kinds } from '../../catalog/offer.ts'
import { described, invalidParameter, readParams, text } from '../../catalog/search/params.ts'
import { argumentSchema, inArguments } from '../arguments.ts'
import type { Tool } from '../call.ts'

const filters = Object.fromEntries(
  Object.entries(searchAll.query ?? {}).map(([name, { schema }]) => [name, schema]),
)

export const search: Tool = {
  name: 'search',
  title: 'Search the store',
  description: `Call this first. Finds ${describeKinds()} on sale now. Free. Describe what is wanted in query, or use the other filters, or both: all must be met. Each item has its price in usdc (atomic: 1000000 is 1 USDC), its face value and what a purchase requires. leftOut: words that were ignored. sums: cards that add up to a value that none has. If nothing is found, hint says why.`,
  inputSchema: argumentSchema(filters, []),
  annotations: { readOnlyHint: true, openWorldHint: false },
  app: 'offers',
  limit: 'discovery',
  charges: false,
  run({ args }, { reading }) {
    const answer = searchAll.ask(inArguments(args), reading)
    const { items, ...page } = JSON.parse(JSON.stringify(answer))
    return { type: 'answer', body: { ...page, items: items.map(inShort) } }
  },
}

/** Fields that do not help a model to choose: prices other than that in USDC, pictures, links and repetitions. */
const inRecordOnly: ReadonlySet<string> = new Set([
  'brand',
  'categories',
  'price',
  'priceType',
  'productType',
  'description',
  'image',
  'buy_url',
])

/** Fields that are left out if one of these says the same in fewer words. */
const impliedBy: Readonly<Record<string, readonly string[]>> = {
  subTypes: ['shortNotes'],
  regions: ['country', 'coverage'],
}

/** The fields of an offer by which a model chooses among many. get_offer returns the whole record. */
function inShort(item: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const isShown = (name: string) =>
    !inRecordOnly.has(name) &&
    !(name === 'available' && item['available'] === true) &&
    !impliedBy[name]?.some((other) => other in item)
  return Object.fromEntries(Object.entries(item).filter(([name]) => isShown(name)))
}

/** "gift vouchers (kind voucher), airtime (topup), and data plans (esim)". */
function describeKinds(): string {
  const phrases = kinds.map((kind, at) => {
    const name = at === 0 ? `kind ${kind}` : kind
    return `${goods[kind].words.found} (${name})`
  })
  return new Intl.ListFormat('en').format(phrases)
}

/** The maximum number of offers in one call: each record may have thousands of characters. */
const maxOffers = 10

const query = {
  offerId: described(text, 'From search'),
  offerIds: {
    schema: {
      type: 'array',
      items: { type: 'string' },
      minItems: 1,
      maxItems: maxOffers,
      description: 'Several at once, to compare them: the answer has them in items',
    },
    parse(name: string, value: string): readonly string[] {
      const ids = [...new Set(value.split(',').map((id) => id.trim()))]
      if (ids.length <= maxOffers) return ids
      throw invalidParameter(name, `${name} may list at most ${maxOffers} ids.`)
    },
  },
}

export const getOffer: Tool = {
  name: 'get_offer',
  title: 'Get offers',
  description:
    'The full record of one offer, or of several with offerIds: price, notes, coverage, when it is refunded, and which arguments its purchase requires. Free.',
  inputSchema: argumentSchema(
    { offerId: query.offerId.schema, offerIds: query.offerIds.schema },
    [],
  ),
  annotations: { readOnlyHint: true, openWorldHint: false },
  app: 'offers',
  limit: 'reading',
  charges: false,
  run({ args }, { reading }) {
    const { offerId, offerIds } = readParams(inArguments(args), query)
    if ((offerId === undefined) === (offerIds === undefined)) {
      const isNone = offerId === undefined
      const none = 'Give offerId, or offerIds for several. Find them with search.'
      throw invalidParameter('offerId', isNone ? none : 'Give offerId or offerIds, not both.')
    }
    const items = offerIds?.map((id) => offerNamed(id, 'offerIds', reading))
    const body = items ? { items } : offerNamed(offerId ?? '', 'offerId', reading)
    return { type: 'answer', body }
  },
}

/** Without what the arguments of the tools say: how it is bought, and by which fields. */
function offerNamed(named: string, parameter: string, reading: ReadDeps): object {
  const offer = findOffer(reading.liveCatalog.current(), undefined, named, parameter)
  const { purchase: _, ...record } = offerDetail(offer, reading)
  return record
}
