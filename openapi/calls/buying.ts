import { kinds } from '../../src/catalog/good.ts'
import type { Kind } from '../../src/catalog/offer.ts'
import { type Ask, bodyOf, type Call, newKey, queryOf, type Shop } from './call.ts'

/** Quotes and purchases that succeed, or are answered with a price. */
export const buyingCalls: readonly Call[] = kinds.flatMap((kind) => [
  {
    operation: `quote${nameOf(kind)}`,
    name: 'price',
    summary: 'The exact price',
    status: 200,
    ask: () => ({ query: queryOf(bodyOf(kind)) }),
  },
  ...purchasesOf(kind).map((call) => ({ ...call, operation: `purchase${nameOf(kind)}` })),
])

function purchasesOf(kind: Kind): readonly Omit<Call, 'operation'>[] {
  return [
    {
      name: 'delivered',
      summary: 'Paid, with the goods',
      status: 200,
      ask: (shop) => paid(shop, kind, 'OK'),
    },
    {
      name: 'replayed',
      summary: 'The same request again: the same order, charged once',
      status: 200,
      ask: async (shop) => shop.bought(kind, 'OK'),
    },
    {
      name: 'unproven',
      summary: 'The same payment without proof of whose it is: where its order stands',
      status: 200,
      ask: async (shop) => {
        const { 'idempotency-key': _, ...payment } = (await shop.bought(kind, 'OK')).headers
        return { body: bodyOf(kind), headers: payment }
      },
    },
    {
      name: 'under_way',
      summary: 'The goods are on their way',
      status: 202,
      ask: async (shop) => {
        const ask = await paid(shop, kind, 'HANG')
        return { ...ask, headers: { ...ask.headers, prefer: 'respond-async' } }
      },
    },
    {
      name: 'failed',
      summary: 'The supplier refused; the money goes back by itself',
      status: 202,
      ask: (shop) => paid(shop, kind, 'FAIL'),
    },
    {
      name: 'payment_required',
      summary: 'What this purchase costs',
      status: 402,
      ask: () => ({ body: bodyOf(kind) }),
    },
  ]
}

async function paid(shop: Shop, kind: Kind, outcome: 'OK' | 'FAIL' | 'HANG'): Promise<Ask> {
  const body = bodyOf(kind, outcome)
  const signature = await shop.payment(kind, body)
  return { body, headers: { 'payment-signature': signature, ...newKey() } }
}

export function nameOf(kind: Kind): string {
  return kind.charAt(0).toUpperCase() + kind.slice(1)
}
