import type { Recipient } from '../../catalog/good.ts'
import type { Kind } from '../../catalog/offer.ts'
import type { Answer } from '../../lib/json-call.ts'
import type {
  Balance,
  Cancelled,
  ConnectedSupplier,
  Held,
  Placed,
  SupplierOrder,
} from '../supplier.ts'
import {
  failureOf,
  families,
  positiveOf,
  present,
  type Raw,
  recordOf,
  refusalOf,
  type SupplierNo,
  type ZenditClient,
} from './client.ts'
import { chargeOf, deliveryOf, shownOf } from './deliveries.ts'

type ZenditSupplier = Omit<ConnectedSupplier, 'statement' | 'webhook'>

/**
 * Buys at Zendit. The store's reference is the `transactionId`, which Zendit accepts only once, so a purchase can
 * be placed again after any doubtful answer.
 */
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
  const refusal = [400, 404].includes(answer.status) ? refusalOf(answer) : undefined
  return refusal === undefined ? strange(answer) : afterRefusal(client, order, refusal)
}

/**
 * What a refused POST means. It may have repeated a purchase that Zendit holds already, and the answer to a
 * repeated reference is not documented. A refusal that names the reference means that it was used, and so
 * does `DUPLICATE` for a repeated request. A first request may be called a duplicate of what others bought
 * for the same phone. In all other cases the record decides, if it can be read.
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
  const answer = await client.get(`/${families[kind]}/purchases/${segment(reference)}`)
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 404 && refusalOf(answer) !== undefined) return { outcome: 'none' }
  const record = answer.status === 200 ? recordOf(answer.body) : undefined
  return record !== undefined && isAbout(record, reference) ? heldOf(kind, record) : strange(answer)
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
  const isNo = [400, 404].includes(answer.status) && refusalOf(answer) !== undefined
  return isNo ? 'no' : 'unknown'
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

function strange(answer: Extract<Answer, { outcome: 'answered' }>) {
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

/**
 * Gives an eSIM back. At Zendit the refund is a transaction of its own, which may still fail after it was
 * accepted: only its record says that the money is in the wallet again. So this reads the record first, and
 * asks for a refund only if there is none.
 *
 * @param reference alphanumeric
 * @param isRepeat whether it may have been asked for before
 */
async function cancelEsim(
  client: ZenditClient,
  reference: string,
  isRepeat: boolean,
): Promise<Cancelled> {
  const path = `/esim/purchases/${reference}/refund`
  const recorded = verdictOf(await client.get(path))
  return recorded === 'none' ? askedFor(client, path, isRepeat) : recorded
}

/**
 * Asks for the refund. The refusal of a first request is final. A repeated request may be refused because the
 * first one was accepted and its record is not shown yet.
 */
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

/** `none` if the supplier has no such refund, or refuses it. */
function verdictOf(answer: Answer): Cancelled | 'none' {
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 200) return statusVerdict(recordOf(answer.body)?.['status'])
  const isRefused = [400, 404].includes(answer.status) && refusalOf(answer) !== undefined
  const reason = `the supplier's answer (${answer.status}) does not settle it`
  return isRefused ? 'none' : { outcome: 'unknown', reason }
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
