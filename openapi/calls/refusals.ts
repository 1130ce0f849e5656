import { type Operation, refusalsOf } from '../../src/api/operation.ts'
import type { RefusalCode } from '../../src/lib/refusal.ts'
import { internalRule, rules } from '../../src/lib/refusal.ts'
import type { Ask, Call, Place, Shop } from './call.ts'
import { limitRecipes } from './limits.ts'
import { claimRecipes } from './refused-claims.ts'
import { buyingRecipes } from './refused-purchases.ts'

/** Makes the request that an operation refuses for a reason; undefined if the recipe does not apply to it. */
export type Recipe = (
  operation: Operation,
  shop: Shop,
) => Ask | undefined | Promise<Ask | undefined>

/** One call for each refusal of an operation. New operations are covered automatically. */
export function refusalCallsOf(operation: Operation): readonly Call[] {
  const codes = [...new Set([...refusalsOf(operation), 'internal_error' as const])]
  return codes.map((code) => ({
    operation: operation.id,
    name: code,
    summary: code === 'internal_error' ? internalRule.title : rules[code].title,
    status: code === 'internal_error' ? internalRule.status : rules[code].status,
    code,
    at: places[code] ?? 'open',
    ask: (shop) => askFor(code, operation, shop),
  }))
}

const places: Readonly<Partial<Record<RefusalCode | 'internal_error', Place>>> = {
  rate_limited: 'busy',
  internal_error: 'broken',
  store_paused: 'away',
  try_again: 'away',
  too_costly: 'dear',
  offer_unavailable: 'away',
}

async function askFor(
  code: RefusalCode | 'internal_error',
  operation: Operation,
  shop: Shop,
): Promise<Ask> {
  const about = { params: await paramsFor(operation, shop, code) }
  for (const recipes of [buyingRecipes, claimRecipes, limitRecipes, recipesOfAll]) {
    const ask = await recipes[code]?.(operation, shop)
    if (ask !== undefined) return { ...about, ...ask }
  }
  throw new Error(`Nothing makes ${operation.id} refuse with ${code}: add it to openapi/calls`)
}

/** The order or offer in the path, if it has one. */
async function paramsFor({ pathParams = {} }: Operation, shop: Shop, code: string) {
  const isAbsent = code === 'order_not_found' || places[code as RefusalCode] !== undefined
  const values: Record<string, () => string | Promise<string>> = {
    id: () => 'TEST-NOTHING-OK',
    orderId: async () =>
      isAbsent ? `ord_${'0'.repeat(26)}` : (await shop.bought('voucher', 'OK')).orderId,
  }
  const given = Object.keys(pathParams).map(async (name) => [name, (await values[name]?.()) ?? ''])
  return Object.fromEntries(await Promise.all(given)) as Record<string, string>
}

/** Recipes for any operation. */
const recipesOfAll: Readonly<Partial<Record<RefusalCode | 'internal_error', Recipe>>> = {
  unknown_parameter: ({ query = {} }) => ({ query: 'country' in query ? 'contry=US' : 'page=2' }),
  invalid_parameter: ({ query = {} }) => ({ query: 'limit' in query ? 'limit=0' : '%FF=1' }),
  repeated_parameter: ({ query = {} }) => {
    const [name = ''] = Object.keys(query).slice(-1)
    return { query: `${name}=20&${name}=20` }
  },
  invalid_url: ({ pathParams = {} }) => ({ params: each(pathParams, '%FF') }),
  not_found: ({ pathParams = {} }) => ({ params: each(pathParams, 'x'.repeat(201)) }),
  offer_not_found: () => ({}),
  order_not_found: ({ pathParams }) =>
    pathParams === undefined ? { query: 'paymentId=pay_0' } : {},
  no_receipt: async (_, shop) => ({ params: { orderId: await shop.unproven() } }),
  no_webhook: () => ({}),
  rate_limited: () => ({}),
  internal_error: () => ({}),
  invalid_json: () => ({ body: '{"offerId":' }),
  unsupported_media_type: () => ({ body: 'offerId', headers: { 'content-type': 'text/plain' } }),
  body_too_large: () => ({ body: { offerId: 'x'.repeat(16 * 1_024) } }),
  sign_in_invalid: () => ({ headers: { 'sign-in-with-x': 'nobody' } }),
  invalid_header: async ({ query = {} }, shop) => {
    const { paymentId } = await shop.bought('voucher', 'OK')
    const headers = { 'idempotency-key': 'too short' }
    return 'paymentId' in query ? { headers, query: `paymentId=${paymentId}` } : { headers }
  },
  try_again: async ({ access, path }, shop) =>
    access === 'sign_in' ? { headers: { 'sign-in-with-x': await shop.signIn(path, 'away') } } : {},
}

function each(pathParams: object, value: string): Record<string, string> {
  return Object.fromEntries(Object.keys(pathParams).map((name) => [name, value]))
}
