import { offerDetail } from '../../api/catalog/offer.ts'
import type { ReadDeps } from '../../api/deps.ts'
import { findOffer } from '../../catalog/find-offer.ts'
import { described, readParams, refused, text } from '../../catalog/search/params.ts'
import { inArguments } from '../arguments.ts'
import { argumentSchema, bodyInArguments } from '../schemas.ts'
import type { Tool } from '../tool.ts'

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
    read: readIds,
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
    if (offerId !== undefined) throw refused('offerId', 'Give offerId or offerIds, not both.')
    throw refused('offerId', 'Give offerId, or offerIds for several. Find them with search.')
  },
}

function readIds(name: string, value: string): readonly string[] {
  const ids = [...new Set(value.split(',').map((id) => id.trim()))]
  if (ids.length <= maxOffers) return ids
  throw refused(name, `${name} may list at most ${maxOffers} ids.`)
}

function offerNamed(named: string, parameter: string, reading: ReadDeps): object {
  const offer = findOffer(reading.liveCatalog.current(), undefined, named, parameter)
  const { purchase, ...record } = offerDetail(offer, reading)
  const bodySchema = bodyInArguments(purchase.bodySchema)
  return { ...record, purchase: { ...purchase, bodySchema } }
}
