import { kinds } from '../../src/catalog/good.ts'
import type { Kind } from '../../src/catalog/offer.ts'
import type { RefusalCode } from '../../src/lib/refusal.ts'
import { nameOf } from './buying.ts'
import { type Ask, bodyOf, queryOf, type Shop } from './call.ts'
import type { Recipe } from './refusals.ts'

type Made = (kind: Kind, shop: Shop) => object | Promise<object>

/** Bodies that a purchase and its quote refuse for the same reason. */
const bodies: Readonly<Partial<Record<RefusalCode, Made>>> = {
  offer_not_found: (kind) => ({ ...bodyOf(kind), offerId: 'TEST-NOTHING-OK' }),
  invalid_body: (kind) => ({ ...bodyOf(kind), colour: 'red' }),
  price_above_maximum: (kind) => ({ ...bodyOf(kind), maxUsdc: 0.4 }),
  purchase_declined: (kind, shop) => shop.denied(kind),
  offer_unavailable: (kind, shop) => shop.unsold(kind),
  store_paused: (kind) => bodyOf(kind),
}

/** Requests that a purchase refuses although their bodies are good. */
const asks: Readonly<Partial<Record<RefusalCode, (kind: Kind, shop: Shop) => Ask | Promise<Ask>>>> =
  {
    invalid_header: (kind) => ({ body: bodyOf(kind), headers: { 'idempotency-key': 'too short' } }),
    sign_in_invalid: (kind) => ({ body: bodyOf(kind), headers: { 'sign-in-with-x': 'nobody' } }),
    payment_invalid: (kind) => ({ body: bodyOf(kind), headers: { 'payment-signature': 'none' } }),
    payment_mismatch: async (kind, shop) => {
      const body = bodyOf(kind)
      return { body, headers: { 'payment-signature': await shop.payment(kind, body, '1') } }
    },
    payment_reused: async (kind, shop) => {
      const { headers } = await shop.bought(kind, 'OK')
      return { body: bodyOf(kind, 'HANG'), headers }
    },
    idempotency_conflict: async (kind, shop) => {
      const { headers } = await shop.bought(kind, 'OK')
      const body = bodyOf(kind, 'HANG')
      const signature = await shop.paymentAgain(kind, body)
      return { body, headers: { ...headers, 'payment-signature': signature } }
    },
    limit_exceeded: async (kind, shop) => {
      const body = bodyOf(kind)
      return { body, headers: { 'payment-signature': await shop.limitedPayment(kind, body) } }
    },
    approval_required: async (kind, shop) => {
      const body = bodyOf(kind)
      return { body, headers: { 'payment-signature': await shop.carefulPayment(kind, body) } }
    },
    approval_declined: async (kind, shop) => {
      const body = bodyOf(kind)
      return { body, headers: { 'payment-signature': await shop.declinedPayment(kind, body) } }
    },
    budget_spent: async (kind, shop) => {
      const body = bodyOf(kind)
      return { body, headers: { 'payment-signature': await shop.spentPayment(kind, body) } }
    },
    too_costly: async (kind, shop) => {
      const body = bodyOf(kind)
      return { body, headers: { 'payment-signature': await shop.payment(kind, body) } }
    },
    try_again: async (kind, shop) => {
      return {
        body: bodyOf(kind),
        headers: { 'payment-signature': await shop.paymentAway(kind) },
      }
    },
  }

const recipes = Object.entries(bodies).map(([code, made]): [string, Recipe] => [
  code,
  async ({ id }, shop) => {
    const quoted = kinds.find((kind) => id === `quote${nameOf(kind)}`)
    if (quoted !== undefined) return { query: queryOf(await made(quoted, shop)) }
    const bought = kinds.find((kind) => id === `purchase${nameOf(kind)}`)
    return bought && { body: await made(bought, shop) }
  },
])

const further = Object.entries(asks).map(([code, made]): [string, Recipe] => [
  code,
  ({ access }, shop) => (typeof access === 'object' ? made(access.pays, shop) : undefined),
])

/** How purchases and quotes are made to refuse. */
export const buyingRecipes: Readonly<Record<string, Recipe>> = Object.fromEntries([
  ...recipes,
  ...further,
])
