import { quote as quoteFor } from '../../api/buying/quote.ts'
import { argumentSchema, purchaseFields, purchaseIn } from '../schemas.ts'
import type { Tool } from '../tool.ts'

export const quote: Tool = {
  name: 'quote',
  title: 'Quote a purchase',
  description:
    'Checks a purchase in full and gives its exact price, without paying. Free; nothing is stored. Takes what buy takes, except idempotency_key and include_goods.',
  inputSchema: argumentSchema(purchaseFields(), ['offerId']),
  annotations: { readOnlyHint: true, openWorldHint: false },
  app: 'price',
  limit: 'purchase',
  charges: true,
  async run({ args, proofs }, { buying }) {
    return { type: 'answer', body: await quoteFor(buying, undefined, purchaseIn(args), proofs) }
  },
}
