import { quote as quoteFor } from '../../api/buying/purchase.ts'
import { argumentSchema, purchaseFields } from '../schemas.ts'
import type { Tool } from '../tool.ts'

export const quote: Tool = {
  name: 'quote',
  title: 'Quote a purchase',
  description:
    'The exact price of a purchase and the check of everything it needs, without paying; an iccid is looked up when you pay, before any money moves. Free; nothing is stored. Takes the same arguments as buy.',
  inputSchema: argumentSchema(purchaseFields(), ['offerId']),
  annotations: { readOnlyHint: true, openWorldHint: false },
  limit: 'purchase',
  charges: true,
  run({ args }, { buying }) {
    return { type: 'answer', body: quoteFor(buying, undefined, args) }
  },
}
