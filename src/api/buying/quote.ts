import * as z from 'zod'
import { goods, kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import { kindSchemaFor, understood } from '../../catalog/purchase-body.ts'
import type { Param, Params } from '../../catalog/search/params.ts'
import { formatUsdc, usdc, usdcDecimals } from '../../lib/money.ts'
import { requireSold } from '../../orders/not-now.ts'
import { acceptsFor, foreignEsim, type Priced, price, rechargedIccid } from '../../orders/price.ts'
import { termsValidSeconds } from '../../payments/terms.ts'
import type { BuyingDeps } from '../deps.ts'
import { answers, type OrderOperation, type ProofLimit } from '../operation.ts'
import { purchasePath, titleOf } from '../paths.ts'
import { PaymentTerms, purchaseSentence, withSignals } from './payment-required.ts'

/** The exact price of one purchase. */
const QuoteAnswer = z
  .object({
    offerId: z.string(),
    kind: z.enum(kinds),
    usdc: z.object({ amount: z.string().regex(/^\d+$/), decimals: z.literal(6) }),
    display: z.string().describe('The price for people: "25.00 USDC"'),
    message: z.string().describe('What is bought and for how much, in a sentence'),
    validUntil: z.iso.datetime(),
    accepts: z.array(PaymentTerms).length(1),
    purchase: z.object({ method: z.literal('POST'), url: z.url() }),
    refundRule: z.string(),
  })
  .meta({ id: 'Quote' })

/** The refusals of an offer that is not sold as requested. */
export const offerRefusals = [
  'invalid_body',
  'offer_not_found',
  'offer_unavailable',
  'price_above_maximum',
  'purchase_declined',
] as const

export const quotes: readonly (OrderOperation & { readonly kind: Kind })[] = kinds.map((kind) => ({
  id: `quote${titleOf(kind)}`,
  kind,
  method: 'GET',
  path: purchasePath(kind),
  group: 'Buying',
  name: `Price of one ${goods[kind].words.noun}`,
  description:
    'The check of a purchase and its exact price, free. Takes the fields of the body in the query; nothing is stored.',
  query: quoteParamsOf(kind),
  needs: kindSchemaFor(kind)['required'] as readonly string[],
  answers: answers('The price', QuoteAnswer),
  refusals: [...offerRefusals, 'invalid_parameter', 'repeated_parameter', 'store_paused'],
  limit: 'purchase',
  charges: true,
  access: 'free',
  run: async (call, deps) => ({ body: await quote(deps, kind, call.fields(), call.proofs) }),
}))

/** The fields of the body as query parameters. Their texts are validated later, with the offer. */
function quoteParamsOf(kind: Kind): Params {
  const { properties } = kindSchemaFor(kind) as {
    properties: Record<string, Param<string>['schema']>
  }
  const entries = Object.entries(properties).map(
    ([name, schema]) =>
      [
        name,
        {
          schema: { description: 'From a search or the catalog', ...schema },
          read: (_: string, text: string) => text,
        },
      ] as const,
  )
  return Object.fromEntries(entries)
}

/**
 * The full validation and the exact amount, without a payment. Nothing is stored.
 *
 * @throws Refusal `invalid_body`, `offer_not_found`, `offer_unavailable`, `purchase_declined`, `store_paused`,
 *   `rate_limited`
 */
export async function quote(
  deps: BuyingDeps,
  asked: Kind | undefined,
  fields: Record<string, unknown>,
  limit: ProofLimit,
) {
  const priced = price(deps.purchases, asked, understood(fields))
  requireSold(deps.purchases.health, priced, true)
  const isLookedUp = await lookUpEsim(deps, priced, limit)
  const { kind } = priced.offer
  const accepts = acceptsFor(deps.purchases, priced)
  const [{ amount }] = accepts
  const now = deps.purchases.now()
  return {
    offerId: priced.offer.id,
    kind,
    usdc: { amount, decimals: usdcDecimals },
    display: `${formatUsdc(usdc(amount))} USDC`,
    message: `${purchaseSentence(priced.offer, priced.lineItem, usdc(amount))}. Nothing is bought yet.${isLookedUp ? '' : notLookedUp}`,
    validUntil: new Date(now.getTime() + termsValidSeconds * 1_000).toISOString(),
    accepts: accepts.map((terms) => withSignals(deps.demands, kind, terms)),
    purchase: { method: 'POST', url: `${deps.site.url}${purchasePath(kind)}` },
    refundRule: goods[kind].refundRule,
  }
}

const notLookedUp =
  ' The eSIM could not be looked up just now. It is looked up when you pay, before any money moves.'

/**
 * Checks the eSIM of a recharge, as a purchase does. False if it could not be looked up now.
 *
 * @throws Refusal `invalid_body`, `rate_limited`
 */
async function lookUpEsim(deps: BuyingDeps, priced: Priced, limit: ProofLimit): Promise<boolean> {
  if (rechargedIccid(priced) === undefined) return true
  const above = await limit.mayProve()
  if (above) throw above
  const refusal = await foreignEsim(deps.purchases, priced, undefined)
  if (refusal === undefined) return true
  await limit.provedNothing()
  if (refusal.code === 'try_again') return false
  throw refusal
}
