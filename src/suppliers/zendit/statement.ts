import { kinds } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { SupplierHolds, SupplierPurchase, SupplierStatement } from '../supplier.ts'
import { families, lineOf, type Raw, recordOf, refusalOf, type ZenditClient } from './client.ts'
import { deliveryOf } from './deliveries.ts'
import { pagesOf } from './pages.ts'

/** What Zendit has sold to this account, by its own list. */
export function zenditStatement(
  client: ZenditClient,
  { now, signal }: { readonly now: () => Date; readonly signal: AbortSignal },
): SupplierStatement {
  return {
    purchases: () => purchases(client, now(), signal),
    purchase: (kind, reference) => purchase(client, kind, reference),
  }
}

/** Purchases that are made while the list is read would shift its pages, so it lists only earlier ones. */
async function* purchases(
  client: ZenditClient,
  until: Date,
  signal: AbortSignal,
): AsyncGenerator<readonly SupplierPurchase[]> {
  const filter = `&createdAt=lt${encodeURIComponent(until.toISOString())}`
  for (const kind of kinds) {
    for await (const page of pagesOf(client, `/${families[kind]}/purchases`, signal, filter)) {
      yield page.map((record) => purchaseOf(kind, recordOf(record)))
    }
  }
}

async function purchase(
  client: ZenditClient,
  kind: Kind,
  reference: string,
): Promise<SupplierHolds> {
  const answer = await client.get(`/${families[kind]}/purchases/${encodeURIComponent(reference)}`)
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 404 && refusalOf(answer) !== undefined) return { outcome: 'none' }
  const record = answer.status === 200 ? recordOf(answer.body) : undefined
  if (record?.['transactionId'] !== reference) {
    return {
      outcome: 'unknown',
      reason: `the supplier's answer (${answer.status}) settles nothing`,
    }
  }
  return holds(kind, record)
}

function holds(kind: Kind, record: Raw): SupplierHolds {
  const found = purchaseOf(kind, record)
  if (found.state !== 'delivered') return { outcome: 'found', purchase: found }
  const delivery = deliveryOf(kind, record)
  // Without goods in its record there is nothing to deliver yet. They may still be written.
  if (delivery === undefined) {
    return { outcome: 'found', purchase: { ...found, state: 'pending' } }
  }
  return { outcome: 'found', purchase: found, delivery }
}

/** @throws Error if the record is not a purchase, because none may be left out silently */
function purchaseOf(kind: Kind, record: Raw | undefined): SupplierPurchase {
  const { transactionId, offerId, cost, costCurrency, costCurrencyDivisor } = record ?? {}
  if (record === undefined || typeof transactionId !== 'string' || typeof offerId !== 'string') {
    throw new Error(`The supplier's list of ${kind} purchases has a record without a name`)
  }
  const country = lineOf(record['country'], 2)
  return {
    reference: transactionId,
    kind,
    product: offerId,
    brandName: lineOf(record['brandName'], 200) ?? 'unknown',
    ...(country === undefined ? {} : { country }),
    state: stateOf(record),
    cost: {
      amount: typeof cost === 'number' ? cost : 0,
      currency: typeof costCurrency === 'string' ? costCurrency : '?',
      divisor: typeof costCurrencyDivisor === 'number' ? costCurrencyDivisor : 1,
    },
  }
}

function stateOf(record: Raw): SupplierPurchase['state'] {
  switch (record['status']) {
    case 'DONE':
      return recordOf(record['refund'])?.['status'] === 'DONE' ? 'returned' : 'delivered'
    case 'FAILED':
    case 'FAIL':
      return 'failed'
    default:
      return 'pending'
  }
}
