import { createHash, timingSafeEqual } from 'node:crypto'
import { kinds, type Recipient } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { Answer } from '../../lib/http-call.ts'
import {
  type Balance,
  type Cancelled,
  type ConnectedSupplier,
  type Held,
  listTimeoutMs,
  type Placed,
  type SupplierAccess,
  type SupplierHolds,
  type SupplierIntegration,
  type SupplierOrder,
  type SupplierPurchase,
  type SupplierStatement,
  supplierTimeoutMs,
} from '../supplier.ts'
import {
  createZenditClient,
  failureOf,
  families,
  lineOf,
  positiveOf,
  present,
  type Raw,
  recordOf,
  refusalOf,
  type SupplierNo,
  type ZenditClient,
} from './client.ts'
import { chargeOf, deliveryOf, shownOf } from './deliveries.ts'
import { createZenditOffers } from './offers.ts'
import { pagesOf } from './pages.ts'

export const zendit = {
  variables: 'SUPPLIER',
  connect({ url: baseUrl, key: apiKey, webhook }, now, signal = new AbortController().signal) {
    const client = createZenditClient({ baseUrl, apiKey, timeoutMs: supplierTimeoutMs })
    const lists = createZenditClient({ baseUrl, apiKey, timeoutMs: listTimeoutMs })
    return {
      ...createZenditSupplier(client, now),
      statement: zenditStatement(lists, { now, signal }),
      webhook: webhookOf(webhook),
    }
  },
  offersOf({ url: baseUrl, key: apiKey }) {
    return createZenditOffers(createZenditClient({ baseUrl, apiKey, timeoutMs: listTimeoutMs }))
  },
} as const satisfies SupplierIntegration

/** @param agreed the header that the operator chose in Zendit's console; without one, no call is genuine */
function webhookOf(agreed: SupplierAccess['webhook']): ConnectedSupplier['webhook'] {
  return {
    isGenuine(headers) {
      if (agreed === undefined || agreed.value === '') return false
      const sent = headers[agreed.header.toLowerCase()]
      // In constant time, so that the value cannot be guessed byte by byte.
      return typeof sent === 'string' && timingSafeEqual(digest(sent), digest(agreed.value))
    },
    // Only a hint: nothing else in the body is believed, and the purchase is looked up instead.
    referenceIn(body) {
      const reference = recordOf(body)?.['transactionId']
      const isReference = typeof reference === 'string' && /^[A-Za-z0-9]{1,64}$/.test(reference)
      return isReference ? reference : undefined
    },
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

type ZenditSupplier = Omit<ConnectedSupplier, 'statement' | 'webhook'>

/** The store's reference is the `transactionId`, which Zendit accepts only once, so a purchase can be repeated. */
export function createZenditSupplier(client: ZenditClient, now: () => Date): ZenditSupplier {
  return {
    place: async (order) => (now() > order.notAfter ? tooLate : place(client, order)),
    lookup: (kind, reference) => lookup(client, kind, reference),
    cancel: (kind, reference, isRepeat) => cancel(client, kind, reference, isRepeat),
    knowsIccid: (iccid) => knowsIccid(client, iccid),
    balance: () => balance(client),
    acceptsKey: () => acceptsKey(client),
  }
}

async function place(client: ZenditClient, order: SupplierOrder): Promise<Placed> {
  const answer = await client.post(`/${families[order.kind]}/purchases`, purchaseBody(order))
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 200) return isAbout(answer.body, order.reference) ? held : strange(answer)
  const refusal = noOf(answer)
  return refusal === undefined ? strange(answer) : afterRefusal(client, order, refusal)
}

/**
 * What a refused POST means. It may have repeated a purchase that Zendit holds already, and the answer to a repeated
 * reference is not documented: a refusal that names the reference means that it was used, and so does `DUPLICATE` for a
 * repeated request. A first request may be called a duplicate of what others bought for the same phone. In all other
 * cases the record decides, if it can be read.
 */
async function afterRefusal(
  client: ZenditClient,
  order: SupplierOrder,
  refusal: SupplierNo,
): Promise<Placed> {
  if (refusal.namesReference || (refusal.isDuplicate && order.isRepeat)) return held
  const found = await lookup(client, order.kind, order.reference)
  if (found.outcome === 'none') return declinedBy(refusal)
  return found.outcome === 'unknown' ? found : held
}

async function lookup(client: ZenditClient, kind: Kind, reference: string): Promise<Held> {
  const read = await readPurchase(client, kind, reference)
  return read.outcome === 'found' ? heldOf(kind, read.record) : read
}

async function readPurchase(client: ZenditClient, kind: Kind, reference: string) {
  const answer = await client.get(`/${families[kind]}/purchases/${segment(reference)}`)
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 404 && noOf(answer) !== undefined) return { outcome: 'none' } as const
  const record = answer.status === 200 ? recordOf(answer.body) : undefined
  return record !== undefined && isAbout(record, reference)
    ? ({ outcome: 'found', record } as const)
    : strange(answer)
}

function heldOf(kind: Kind, record: Raw): Held {
  switch (record['status']) {
    case 'DONE': {
      const charged = present({ charge: chargeOf(record) })
      const delivery = deliveryOf(kind, record)
      if (delivery) return { outcome: 'delivered', delivery, ...charged }
      return { outcome: 'done', ...present({ delivery: shownOf(kind, record) }), ...charged }
    }
    case 'FAILED':
    case 'FAIL':
      return declinedBy(failureOf(record['error']))
    default:
      // Under way. An undocumented state also means that the purchase exists.
      return { outcome: 'pending' }
  }
}

/** Zendit refunds eSIMs only: a voucher or topup that is `DONE` cannot be given back. */
async function cancel(
  client: ZenditClient,
  kind: Kind,
  reference: string,
  isRepeat: boolean,
): Promise<Cancelled> {
  if (kind === 'esim') return cancelEsim(client, segment(reference), isRepeat)
  return { outcome: 'refused', reason: `the supplier takes no ${kind} back` }
}

/** Zendit lists the plans of an eSIM only to the account that bought it. */
async function knowsIccid(client: ZenditClient, iccid: string): Promise<'yes' | 'no' | 'unknown'> {
  if (!/^89\d{16,18}$/.test(iccid)) return 'no'
  const answer = await client.get(`/esim/${iccid}/plans`)
  if (answer.outcome === 'unknown') return 'unknown'
  if (answer.status === 200) return recordOf(answer.body) === undefined ? 'unknown' : 'yes'
  return noOf(answer) === undefined ? 'unknown' : 'no'
}

async function balance(client: ZenditClient): Promise<Balance> {
  const answer = await client.get('/balance')
  if (answer.outcome === 'unknown') return answer
  const record = answer.status === 200 ? recordOf(answer.body) : undefined
  const { availableBalance: available, currency, currencyDivisor } = record ?? {}
  const divisor = positiveOf(currencyDivisor)
  const isBalance = Number.isFinite(available) && typeof currency === 'string'
  return isBalance && divisor !== undefined
    ? { outcome: 'known', available: Number(available), currency, divisor }
    : strange(answer)
}

async function acceptsKey(client: ZenditClient): Promise<'yes' | 'no' | 'unknown'> {
  const answer = await client.get('/balance')
  if (answer.outcome === 'unknown') return 'unknown'
  if (answer.status === 401 || answer.status === 403) return 'no'
  return answer.status === 200 ? 'yes' : 'unknown'
}

function purchaseBody(order: SupplierOrder): Raw {
  const value = order.value === undefined ? {} : { value: { type: 'PRICE', value: order.value } }
  return {
    offerId: order.product,
    transactionId: order.reference,
    ...value,
    ...recipientBody(order.recipient),
  }
}

function recipientBody(recipient: Recipient): Raw {
  switch (recipient.kind) {
    case 'voucher':
      return { fields: voucherFields(recipient) }
    case 'topup':
      return { recipientPhoneNumber: recipient.msisdn }
    case 'esim':
      return recipient.iccid === undefined ? {} : { iccid: recipient.iccid }
  }
}

/** Everything that the buyer gave, under Zendit's keys for required fields. The buyer is the sender too. */
function voucherFields(recipient: Extract<Recipient, { kind: 'voucher' }>) {
  const { firstName, lastName, email, country } = recipient
  const given = Object.entries({ firstName, lastName, email, country })
  const filled = given.flatMap(([key, value]) => (value === undefined ? [] : [{ key, value }]))
  return ['recipient', 'sender'].flatMap((side) =>
    filled.map(({ key, value }) => ({ key: `${side}.${key}`, value })),
  )
}

const held: Placed = { outcome: 'held' }
const tooLate: Placed = { outcome: 'unknown', reason: 'it was too late to ask' }

function declinedBy({ code, reason }: SupplierNo) {
  return { outcome: 'declined', code, reason } as const
}

type Answered = Extract<Answer, { outcome: 'answered' }>

/** The supplier's own no: with any other status, its code does not settle what was asked. */
function noOf(answer: Answered): SupplierNo | undefined {
  return [400, 404].includes(answer.status) ? refusalOf(answer) : undefined
}

function strange(answer: Answered) {
  const reason = `the supplier's answer (${answer.status}) does not settle it`
  return { outcome: 'unknown', reason } as const
}

function isAbout(body: unknown, reference: string): boolean {
  return recordOf(body)?.['transactionId'] === reference
}

/** Zendit accepts only alphanumeric references, so any other one is a defect of the store. */
function segment(reference: string): string {
  if (!/^[A-Za-z0-9]{1,64}$/.test(reference)) throw new Error('The reference is not alphanumeric')
  return reference
}

/** The refund of an eSIM may fail after it was accepted: only its record proves it, so that is read first. */
async function cancelEsim(
  client: ZenditClient,
  reference: string,
  isRepeat: boolean,
): Promise<Cancelled> {
  const path = `/esim/purchases/${reference}/refund`
  const recorded = verdictOf(await client.get(path))
  return recorded === 'none' ? askedFor(client, path, isRepeat) : recorded
}

/** A repeated request may be refused because the first one was accepted and its record is not shown yet. */
async function askedFor(client: ZenditClient, path: string, isRepeat: boolean): Promise<Cancelled> {
  const answer = await client.post(path, {})
  const verdict = verdictOf(answer)
  if (verdict !== 'none') return verdict
  return { outcome: isRepeat ? 'unknown' : 'refused', reason: refusedBy(answer) }
}

function refusedBy(answer: Answer): string {
  const code = answer.outcome === 'answered' ? refusalOf(answer)?.code : undefined
  return `the supplier does not take this eSIM back (${code})`
}

function verdictOf(answer: Answer): Cancelled | 'none' {
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 200) return statusVerdict(recordOf(answer.body)?.['status'])
  return noOf(answer) === undefined ? strange(answer) : 'none'
}

function statusVerdict(status: unknown): Cancelled {
  if (typeof status !== 'string') {
    return { outcome: 'unknown', reason: 'the refund has no state' }
  }
  switch (status) {
    case 'DONE':
      return { outcome: 'cancelled' }
    case 'FAILED':
    case 'FAIL':
      return { outcome: 'refused', reason: 'the refund of this eSIM failed at the supplier' }
    default:
      return { outcome: 'pending' }
  }
}

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
  const read = await readPurchase(client, kind, reference)
  return read.outcome === 'found' ? holds(kind, read.record) : read
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
