import { type Operation, refusalsOf, titleOf } from '../../src/api/operation.ts'
import { type Kind, kinds } from '../../src/catalog/offer.ts'
import { internalRule, type RefusalCode, rules } from '../../src/lib/refusal.ts'
import {
  type Ask,
  bodyOf,
  type Call,
  newKey,
  type Payer,
  type Place,
  queryOf,
  type Shop,
} from './call.ts'
import { limitRequests, signedLimits, successes } from './successes.ts'

type Code = RefusalCode | 'internal_error'
type Asked = Ask | undefined | Promise<Ask | undefined>
/** Makes the request that an operation refuses for a reason; undefined if the recipe does not apply to it. */
type Recipe = (operation: Operation, shop: Shop) => Asked
type Recipes = Readonly<Partial<Record<Code, Recipe>>>

/** All calls whose answers are examples, operation by operation. New operations get their refusals automatically. */
export function callsOf(operations: readonly Operation[]): readonly Call[] {
  return operations.flatMap((operation) => [
    ...successes.filter((call) => call.operation === operation.id),
    ...refusalCallsOf(operation),
  ])
}

function refusalCallsOf(operation: Operation): readonly Call[] {
  const codes = [...new Set<Code>([...refusalsOf(operation), 'internal_error'])]
  return codes.map((code) => {
    const { title: summary, status } = code === 'internal_error' ? internalRule : rules[code]
    const at = places[code] ?? 'open'
    const ask = (shop: Shop) => askFor(code, operation, shop)
    return { operation: operation.id, name: code, summary, status, code, at, ask }
  })
}

const places: Readonly<Partial<Record<Code, Place>>> = {
  rate_limited: 'busy',
  internal_error: 'broken',
  store_paused: 'away',
  try_again: 'away',
  too_costly: 'dear',
  offer_unavailable: 'away',
}

async function askFor(code: Code, operation: Operation, shop: Shop): Promise<Ask> {
  const about = { params: await paramsFor(operation, shop, code) }
  let ask = await purchaseFor(code, operation, shop)
  ask ??= await recipesById[operation.id]?.[code]?.(operation, shop)
  ask ??= await recipesOfAll[code]?.(operation, shop)
  if (ask !== undefined) return { ...about, ...ask }
  throw new Error(`Nothing makes ${operation.id} refuse with ${code}: add it to openapi/calls`)
}

async function paramsFor(
  { pathParams = {} }: Operation,
  shop: Shop,
  code: Code,
): Promise<Record<string, string>> {
  const isAbsent = code === 'order_not_found' || places[code] !== undefined
  if ('id' in pathParams) return { id: 'TEST-NOTHING-OK' }
  if (!('orderId' in pathParams)) return {}
  if (isAbsent) return { orderId: `ord_${'0'.repeat(26)}` }
  return { orderId: (await shop.bought('voucher', 'OK')).orderId }
}

const bodies: Readonly<
  Partial<Record<Code, (kind: Kind, shop: Shop) => object | Promise<object>>>
> = {
  offer_not_found: (kind) => ({ ...bodyOf(kind), offerId: 'TEST-NOTHING-OK' }),
  invalid_body: (kind) => ({ ...bodyOf(kind), colour: 'red' }),
  price_above_maximum: (kind) => ({ ...bodyOf(kind), maxUsdc: 0.4 }),
  purchase_declined: (kind, shop) => shop.denied(kind),
  offer_unavailable: (kind, shop) => shop.unsold(kind),
  store_paused: (kind) => bodyOf(kind),
  too_costly: (kind) => bodyOf(kind),
}

const purchaseHeaders: Readonly<Partial<Record<Code, Record<string, string>>>> = {
  invalid_header: { 'idempotency-key': 'too short' },
  sign_in_invalid: { 'sign-in-with-x': 'nobody' },
  payment_invalid: { 'x-payment': Buffer.from('{"x402Version":1}').toString('base64') },
}

const payers: Readonly<Partial<Record<Code, Payer>>> = {
  payment_mismatch: 'another',
  limit_exceeded: 'limited',
  approval_required: 'careful',
  approval_declined: 'declined',
  budget_spent: 'spent',
  try_again: 'away',
}

async function purchaseFor(
  code: Code,
  { id, access }: Operation,
  shop: Shop,
): Promise<Ask | undefined> {
  const made = bodies[code]
  const quoted = kinds.find((kind) => id === `quote${titleOf(kind)}`)
  if (made && quoted) return { query: queryOf(await made(quoted, shop)) }
  if (typeof access !== 'object') return undefined
  const kind = access.pays
  if (made) return { body: await made(kind, shop) }
  const headers = purchaseHeaders[code]
  return headers ? { body: bodyOf(kind), headers } : paidFor(code, kind, shop)
}

async function paidFor(code: Code, kind: Kind, shop: Shop): Promise<Ask | undefined> {
  const again = bodyOf(kind, 'HANG')
  if (code === 'payment_reused') {
    const { 'idempotency-key': _, ...headers } = (await shop.bought(kind, 'OK')).headers
    return { body: again, headers }
  }
  if (code === 'possible_duplicate') {
    const { body } = await shop.bought(kind, 'OK')
    return { body, headers: { 'payment-signature': await shop.payment(kind, body, 'buyer') } }
  }
  if (code === 'idempotency_conflict') {
    const { headers } = await shop.bought(kind, 'OK')
    const signature = await shop.payment(kind, again, 'buyer')
    return { body: again, headers: { ...headers, 'payment-signature': signature } }
  }
  const by = payers[code]
  if (by === undefined) return undefined
  const body = bodyOf(kind)
  const amount = code === 'payment_mismatch' ? '1' : undefined
  return { body, headers: { 'payment-signature': await shop.payment(kind, body, by, amount) } }
}

const emptyClaim: Recipe = () => ({ headers: newKey(), body: {} })

const recipesById: Readonly<Record<string, Recipes>> = {
  claimRefund: {
    idempotency_key_missing: () => ({ body: {} }),
    idempotency_conflict: async (_, shop) => {
      const { orderId } = await shop.bought('voucher', 'FAIL')
      const headers = await shop.claimed(orderId)
      return { params: { orderId }, headers, body: { reason: 'again' } }
    },
    invalid_body: () => ({ headers: newKey(), body: { colour: 'red' } }),
    refund_destination_refused: () => ({
      headers: newKey(),
      body: { refund_to: `0x${'1'.repeat(40)}` },
    }),
    budget_spent: async (_, shop) => {
      const { orderId } = await shop.bought('esim', 'FAIL')
      await shop.claimedOften(orderId)
      return { params: { orderId }, headers: newKey(), body: {} }
    },
    not_refundable: emptyClaim,
    order_not_found: emptyClaim,
    try_again: emptyClaim,
  },
  ...Object.fromEntries(
    Object.entries(limitRequests).map(([id, request]): [string, Recipes] => [
      id,
      {
        invalid_body: () => ({ body: { perOrderUsdc: '$5' } }),
        sign_in_invalid: () =>
          request.body && { body: request.body, headers: { 'sign-in-with-x': 'nobody' } },
        try_again: (_, shop) => signedLimits(shop, request, 'away'),
      },
    ]),
  ),
}

const recipesOfAll: Recipes = {
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
  not_refundable: () => ({}),
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
