import { askOffer } from '../../api/catalog/offer.ts'
import type { ReadDeps } from '../../api/deps.ts'
import { readParams, text } from '../../api/params.ts'
import { Refusal } from '../../lib/refusal.ts'
import { inArguments } from '../arguments.ts'
import { argumentSchema } from '../schemas.ts'
import type { Tool } from '../tool.ts'

export const getOffer: Tool = {
  name: 'get_offer',
  title: 'Get one offer',
  description:
    'All about one offer: its price in USDC (usdc.amount, atomic: 1000000 is 1 USDC), its notes, when it is refunded, and in purchase.bodySchema exactly which arguments quote and buy take for it. Free. Call it before you buy.',
  inputSchema: argumentSchema({ offerId: { type: 'string', description: 'From search' } }, [
    'offerId',
  ]),
  annotations: { readOnlyHint: true, openWorldHint: false },
  limit: 'reading',
  charges: false,
  run({ args }, { reading }) {
    return { type: 'answer', body: offerNamed(args, reading) }
  },
}

function offerNamed(args: Readonly<Record<string, unknown>>, reading: ReadDeps): object {
  const { offerId } = readParams(inArguments(args), { offerId: text })
  const kind = offerId === undefined ? undefined : reading.liveCatalog.current().find(offerId)?.kind
  if (offerId === undefined || kind === undefined) {
    const message = 'There is no offer with this offerId. Find one with search.'
    throw new Refusal('offer_not_found', message, { parameter: 'offerId' })
  }
  return askOffer(kind, offerId, () => new Map(), reading).answer()
}
