import { kindParam, searchAll, searches, searchOfKind } from '../../api/discovery/search.ts'
import { offerDetail } from '../../api/offers.ts'
import type { Published, ReadDeps } from '../../api/operation.ts'
import { findOffer } from '../../catalog/catalog.ts'
import { goods } from '../../catalog/kinds.ts'
import { kinds } from '../../catalog/offer.ts'
import { described, invalidParameter, readParams, text } from '../../catalog/search/params.ts'
import { argumentSchema, bodyInArguments, inArguments, withoutEmpty } from '../arguments.ts'
import type { Tool } from '../call.ts'

const wide = Object.fromEntries(
  Object.entries(searchAll.query ?? {}).map(([name, { schema }]) => [name, schema]),
)

/** The filters of single kinds, besides those of the search over all kinds. Each names its kinds. */
const narrow = filters()

export const search: Tool = {
  name: 'search',
  title: 'Search the store',
  description: `Call this first. Finds ${describeKinds()} that are on sale now, all at once. Free. Describe what is wanted in query, in plain words, or use the parameters, or both. Each item says in usdc what it costs (atomic: 1000000 is 1 USDC), its face value and what a purchase requires. leftOut lists words that were not taken into account. When nothing is found, hint says why. Then call get_offer for the full record of an offer.`,
  inputSchema: argumentSchema({ ...wide, ...narrow }, []),
  annotations: { readOnlyHint: true, openWorldHint: false },
  app: 'offers',
  limit: 'discovery',
  charges: false,
  run({ args }, { reading }) {
    const { items, ...page } = JSON.parse(JSON.stringify(questionIn(args, reading)))
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

/**
 * A kind with only filters that its own search takes asks that search; everything else asks the search over all kinds.
 *
 * @throws Refusal `invalid_parameter` for a filter of single kinds in a search over all kinds, besides the refusals of
 *   the searches
 */
function questionIn(args: Readonly<Record<string, unknown>>, reading: ReadDeps): Published {
  const filled = withoutEmpty(args)
  const { kind: kindText, ...filters } = filled
  const filter = Object.keys(filters).find((name) => name in narrow)
  if (kindText === undefined) {
    if (filter !== undefined)
      throw invalidParameter(filter, `${filter} is not of every kind. ${kindFor(filter)}`)
    return searchAll.ask(inArguments(filled), reading)
  }
  const kind = kindParam.parse('kind', String(kindText))
  const { query = {} } = searches[kind]
  const other = Object.keys(filters).find((name) => name in wide && !(name in query))
  if (other === undefined) return searchOfKind(kind, inArguments(filters), reading)
  if (filter === undefined) return searchAll.ask(inArguments(filled), reading)
  throw invalidParameter(filter, `${filter} does not go with ${other}. Leave one of them out.`)
}

function kindFor(filter: string): string {
  const taking = kinds.filter((kind) => filter in (searches[kind].query ?? {}))
  const choice = new Intl.ListFormat('en', { type: 'disjunction' }).format(taking)
  return `Give kind as well: ${choice}.`
}

/** "gift vouchers (kind voucher), airtime (topup), and data plans (esim)". */
function describeKinds(): string {
  const phrases = kinds.map((kind, at) => {
    const name = at === 0 ? `kind ${kind}` : kind
    return `${goods[kind].words.found} (${name})`
  })
  return new Intl.ListFormat('en').format(phrases)
}

function filters(): Record<string, Readonly<Record<string, unknown>>> {
  const names = new Set(kinds.flatMap((kind) => Object.keys(searches[kind].query ?? {})))
  const own = [...names].filter((name) => !(name in wide))
  return Object.fromEntries(own.map((name) => [name, filter(name)]))
}

function filter(name: string): Readonly<Record<string, unknown>> {
  const taking = kinds.flatMap((kind) => {
    const param = searches[kind].query?.[name]
    return param === undefined ? [] : [{ kind, schema: param.schema }]
  })
  const [first] = taking
  const isSame = taking.every(
    ({ schema }) => JSON.stringify(schema) === JSON.stringify(first?.schema),
  )
  if (isSame && taking.length === kinds.length) return first?.schema ?? {}
  const description = taking
    .map(({ kind, schema: { description, enum: values } }) => {
      const list = Array.isArray(values) ? ` (one of ${values.join(', ')})` : ''
      return `${kind}: ${String(description)}${list}`
    })
    .join('. ')
  return { type: first?.schema['type'], description }
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
    parse: readIds,
  },
}

export const getOffer: Tool = {
  name: 'get_offer',
  title: 'Get offers',
  description:
    'The full record of one offer, or of several with offerIds: its price in USDC (usdc.amount, atomic: 1000000 is 1 USDC), its notes, when it is refunded, and in purchase.bodySchema exactly which arguments quote and buy take. Free. Call it before you buy.',
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
    if (offerIds !== undefined && offerId === undefined) {
      const items = offerIds.map((id) => offerNamed(id, 'offerIds', reading))
      return { type: 'answer', body: { items } }
    }
    if (offerId !== undefined && offerIds === undefined) {
      return { type: 'answer', body: offerNamed(offerId, 'offerId', reading) }
    }
    if (offerId !== undefined)
      throw invalidParameter('offerId', 'Give offerId or offerIds, not both.')
    throw invalidParameter(
      'offerId',
      'Give offerId, or offerIds for several. Find them with search.',
    )
  },
}

function readIds(name: string, value: string): readonly string[] {
  const ids = [...new Set(value.split(',').map((id) => id.trim()))]
  if (ids.length <= maxOffers) return ids
  throw invalidParameter(name, `${name} may list at most ${maxOffers} ids.`)
}

function offerNamed(named: string, parameter: string, reading: ReadDeps): object {
  const offer = findOffer(reading.liveCatalog.current(), undefined, named, parameter)
  const { purchase, ...record } = offerDetail(offer, reading)
  const bodySchema = bodyInArguments(purchase.bodySchema)
  return { ...record, purchase: { ...purchase, bodySchema } }
}
