import { keyForm } from '../../api/buying/credentials.ts'
import { buy as buyByCall, quote as quoteFor } from '../../api/buying/purchase.ts'
import { argumentSchema, purchaseFields, purchaseIn, without } from '../arguments.ts'
import { includeGoods, orderOutcome, showingOf } from '../order-outcome.ts'
import { credentialsIn, mcpTransport, presentedWith, receiptKey } from '../proofs.ts'
import type { Tool, ToolCall, ToolDeps, ToolOutcome } from '../tool.ts'

const idempotencyKey = {
  type: 'string',
  description: `Yours, of ${keyForm}, and new for each purchase. Sent again, it gives the same order, and it shows later that the goods are yours. Keep it.`,
} as const

export const buy: Tool = {
  name: 'buy',
  title: 'Buy',
  description: [
    'Buys one offer with USDC (x402). The first call, without a payment, costs nothing: it returns an error with the price in accepts[0].',
    'Sign that and call again with the same arguments and the payment in _meta["x402/payment"]; x402 clients do this by themselves. Each payment is charged once, however often it is sent.',
    'If no answer arrives, send the very same call again. Never sign a new payment while an order is PAYMENT_PENDING, PAID or FULFILLING: ask order_status instead.',
    'If the goods are not delivered, the full amount is refunded automatically to the wallet that paid.',
    'The answer has reveal.url, a link that shows the goods to a person once, unless include_goods is true.',
  ].join(' '),
  inputSchema: argumentSchema(
    { ...purchaseFields(), idempotency_key: idempotencyKey, include_goods: includeGoods },
    ['offerId'],
  ),
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  app: 'order',
  limit: 'purchase',
  charges: true,
  findsOrders: true,
  run: bought,
}

/** Arguments that are not fields of the purchase. */
const own = ['idempotency_key', 'include_goods']

async function bought(call: ToolCall, { buying }: ToolDeps): Promise<ToolOutcome> {
  const { client, heldUp, host } = call
  // First, so that an invalid flag is refused before anything is bought.
  const showing = showingOf(call)
  const outcome = await buyByCall(buying, {
    kind: undefined,
    fields: purchaseIn(without(call.args, own)),
    presented: presentedWith(call),
    shown: () => credentialsIn(call),
    patienceMs: undefined,
    approveAbove: host.approveAbove,
    transport: mcpTransport,
    client,
    heldUp,
  })
  if (outcome.type === 'payment_required') {
    return { type: 'demand', required: outcome.required, more: outcome.more }
  }
  if (outcome.type === 'standing') {
    const { body } = outcome
    return { type: 'answer', body, advice: body.message, provesNothing: true }
  }
  const { settled } = outcome
  const said = await orderOutcome(buying, outcome, showing)
  return { ...said, ...(settled ? { meta: { [receiptKey]: settled } } : {}) }
}

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
