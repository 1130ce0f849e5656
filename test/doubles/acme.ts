import * as z from 'zod'
import type { Offer } from '../../src/catalog/offer.ts'
import { type Answer, callJson } from '../../src/lib/http-call.ts'
import { startScripted } from '../../src/suppliers/scripted-server.fixture.ts'
import {
  type ConnectedSupplier,
  type Held,
  listTimeoutMs,
  type SupplierAccess,
  type SupplierIntegration,
  type SupplierPurchase,
  supplierTimeoutMs,
} from '../../src/suppliers/supplier.ts'
import { fixed, voucher } from '../fixtures/offers.ts'

const Purchase = z.object({
  reference: z.string(),
  sku: z.string(),
  cents: z.number(),
  state: z.enum(['open', 'done', 'failed']),
  code: z.string(),
})
type Purchase = z.infer<typeof Purchase>
const Cards = z.object({ cards: z.array(z.object({ sku: z.string(), cents: z.number() })) })

/** A second supplier, as a contributor would add it: it sells gift cards over a small HTTP API. */
export const acme = {
  variables: 'ACME',
  connect(access, now) {
    const { call, find } = apiOf(access, supplierTimeoutMs)
    return {
      async place({ reference, product: sku, notAfter }) {
        if (now() > notAfter) return { outcome: 'unknown', reason: 'too late' }
        const answer = await call('POST', '/purchases', { reference, sku })
        return bodyOf(answer, Purchase) ? { outcome: 'held' } : unknown(answer)
      },
      lookup: async (_, reference) => heldOf(await find(reference)),
      cancel: async () => ({ outcome: 'refused', reason: 'a gift card cannot be returned' }),
      knowsIccid: async () => 'no',
      balance: async () => ({ outcome: 'known', available: 10_000, currency: 'USD', divisor: 100 }),
      acceptsKey: async () => 'yes',
      statement: statementOf(access),
      webhook: { isGenuine: () => false, referenceIn: () => undefined },
    }
  },
  offersOf: (access) => ({
    async list() {
      const answer = await apiOf(access, listTimeoutMs).call('GET', '/cards')
      const { cards } = Cards.parse(bodyOf(answer, Cards))
      return { offers: cards.map(offerOf), rejected: {} }
    },
  }),
} as const satisfies SupplierIntegration

function apiOf({ url: baseUrl, key }: SupplierAccess, timeoutMs: number) {
  const service = { baseUrl, authorization: `Bearer ${key}`, timeoutMs }
  const call = (method: 'GET' | 'POST', path: string, body?: unknown) =>
    callJson(service, { method, path, body })
  return { call, find: (reference: string) => call('GET', `/purchases/${reference}`) }
}

function bodyOf<T>(answer: Answer, shape: z.ZodType<T>): T | undefined {
  return answer.outcome === 'answered' ? shape.safeParse(answer.body).data : undefined
}

function unknown(answer: Answer) {
  const reason = answer.outcome === 'answered' ? `status ${answer.status}` : answer.reason
  return { outcome: 'unknown', reason } as const
}

function isNone(answer: Answer): boolean {
  return answer.outcome === 'answered' && answer.status === 404
}

function heldOf(answer: Answer): Held {
  if (isNone(answer)) return { outcome: 'none' }
  const purchase = bodyOf(answer, Purchase)
  if (!purchase) return unknown(answer)
  const { state, code, cents } = purchase
  if (state === 'open') return { outcome: 'pending' }
  if (state === 'failed') return { outcome: 'declined', code: 'SOLD_OUT', reason: 'sold out' }
  const charge = { amount: cents, currency: 'USD', divisor: 100 }
  return { outcome: 'delivered', delivery: { kind: 'voucher', code }, charge }
}

function statementOf(access: SupplierAccess): ConnectedSupplier['statement'] {
  const { call, find } = apiOf(access, listTimeoutMs)
  return {
    async *purchases() {
      const list = z.object({ purchases: z.array(Purchase) })
      yield list.parse(bodyOf(await call('GET', '/purchases'), list)).purchases.map(purchaseOf)
    },
    async purchase(_, reference) {
      const answer = await find(reference)
      if (isNone(answer)) return { outcome: 'none' }
      const found = bodyOf(answer, Purchase)
      if (!found) return unknown(answer)
      const delivery = { kind: 'voucher', code: found.code } as const
      return { outcome: 'found', purchase: purchaseOf(found), delivery }
    },
  }
}

const states = { open: 'pending', done: 'delivered', failed: 'failed' } as const

function purchaseOf({ reference, sku, cents, state }: Purchase): SupplierPurchase {
  const cost = { amount: cents, currency: 'USD', divisor: 100 }
  return { reference, kind: 'voucher', product: sku, brandName: 'Acme', state: states[state], cost }
}

function offerOf({ sku, cents }: { readonly sku: string; readonly cents: number }): Offer {
  return voucher(`acme-${sku}`, {
    source: { supplier: 'acme', product: sku },
    brand: 'ACME',
    brandName: 'Acme',
    price: fixed(cents),
    faceValue: fixed(cents),
    cost: { currency: 'USD', divisor: 100, min: cents, max: cents },
  })
}

/** The server of that supplier. It sells every card that it lists, except those that are sold out. */
export async function startAcme(
  cards: readonly { readonly sku: string; readonly cents: number }[],
) {
  const purchases = new Map<string, Purchase>()
  const soldOut = new Set<string>()
  function buy({ reference, sku }: Pick<Purchase, 'reference' | 'sku'>): Purchase {
    const cents = cards.find((card) => card.sku === sku)?.cents ?? 0
    const state = soldOut.has(sku) ? 'failed' : 'done'
    return { reference, sku, cents, state, code: `ACME-${reference}` }
  }
  const server = await startScripted(({ method, path, body }) => {
    if (path === '/cards') return { json: { cards } }
    if (method === 'POST') {
      const bought = buy(body as Purchase)
      purchases.set(bought.reference, bought)
      return { json: bought }
    }
    if (path === '/purchases') return { json: { purchases: [...purchases.values()] } }
    const found = purchases.get(path.replace('/purchases/', ''))
    return found ? { json: found } : { status: 404, json: {} }
  })
  return { ...server, purchases, soldOut }
}
