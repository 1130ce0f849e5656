import { createHash, timingSafeEqual } from 'node:crypto'
import { fieldOfKey } from '../../catalog/kinds/voucher-fields.ts'
import {
  type Charge,
  type Delivery,
  type Kind,
  kinds,
  type Recipient,
} from '../../catalog/offer.ts'
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
  isTestMode,
  lineOf,
  pagesOf,
  positiveOf,
  present,
  type Raw,
  recordOf,
  refusalOf,
  type SupplierNo,
  wholePositiveOf,
  type ZenditClient,
} from './client.ts'
import { createZenditOffers } from './offers.ts'
import { countryOf } from './parse-offer.ts'

export const zendit = {
  variables: 'SUPPLIER',
  isTest: isTestMode,
  connect(access, now, signal = new AbortController().signal) {
    const lists = createZenditClient(access, listTimeoutMs)
    return {
      ...createZenditSupplier(createZenditClient(access, supplierTimeoutMs), now),
      statement: zenditStatement(lists, { now, signal }),
      webhook: webhookOf(access.webhook),
    }
  },
  offersOf: (access) => createZenditOffers(createZenditClient(access, listTimeoutMs)),
} as const satisfies SupplierIntegration

/** @param webhook the header that the operator chose in Zendit's console; without one, no call is genuine */
function webhookOf(webhook: SupplierAccess['webhook']): ConnectedSupplier['webhook'] {
  return {
    isGenuine(headers) {
      if (webhook === undefined || webhook.value === '') return false
      const value = headers[webhook.header.toLowerCase()]
      return typeof value === 'string' && timingSafeEqual(digest(value), digest(webhook.value))
    },
    // Only a hint: nothing else in the body is believed, and the purchase is looked up instead.
    referenceIn(body) {
      const reference = recordOf(body)?.['transactionId']
      return typeof reference === 'string' && referencePattern.test(reference)
        ? reference
        : undefined
    },
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}

/** The store's reference is the `transactionId`, which Zendit accepts only once, so a purchase can be repeated. */
export function createZenditSupplier(
  client: ZenditClient,
  now: () => Date,
): Omit<ConnectedSupplier, 'statement' | 'webhook'> {
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
  const given = new Map(Object.entries(recipient))
  return [...fieldOfKey].flatMap(([key, field]) => {
    const value = given.get(field)
    return value === undefined ? [] : [{ key, value }]
  })
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
  const existing = await lookup(client, order.kind, order.reference)
  if (existing.outcome === 'none') return declinedBy(refusal)
  return existing.outcome === 'unknown' ? existing : held
}

async function lookup(client: ZenditClient, kind: Kind, reference: string): Promise<Held> {
  const response = await readPurchase(client, kind, reference)
  return response.outcome === 'found' ? heldOf(kind, response.record) : response
}

function heldOf(kind: Kind, record: Raw): Held {
  switch (record['status']) {
    case 'DONE': {
      const charged = present({ charge: chargeOf(record) })
      const delivery = deliveryOf(kind, record)
      if (delivery) return { outcome: 'delivered', delivery, ...charged }
      return { outcome: 'done', ...present({ delivery: partialOf(kind, record) }), ...charged }
    }
    case 'FAILED':
    case 'FAIL':
      return declinedBy(failureOf(record['error']))
    default:
      // Under way. An undocumented state also means that the purchase exists.
      return { outcome: 'pending' }
  }
}

/**
 * Zendit refunds eSIMs only: a voucher or topup that is `DONE` cannot be given back. The refund may fail after it was
 * accepted: only its record proves it, so that is read first. A repeated request may be refused because the first one
 * was accepted and its record is not shown yet.
 */
async function cancel(
  client: ZenditClient,
  kind: Kind,
  reference: string,
  isRepeat: boolean,
): Promise<Cancelled> {
  if (kind !== 'esim') return { outcome: 'refused', reason: `the supplier takes no ${kind} back` }
  const path = `/esim/purchases/${segment(reference)}/refund`
  const recorded = verdictOf(await client.get(path))
  if (recorded.outcome !== 'none') return recorded
  const verdict = verdictOf(await client.post(path, {}))
  if (verdict.outcome !== 'none') return verdict
  const reason = `the supplier does not take this eSIM back (${verdict.code})`
  return { outcome: isRepeat ? 'unknown' : 'refused', reason }
}

function verdictOf(answer: Answer): Cancelled | { outcome: 'none'; code: string } {
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 200) return statusVerdict(recordOf(answer.body)?.['status'])
  const refusal = noOf(answer)
  return refusal === undefined ? strange(answer) : { outcome: 'none', code: refusal.code }
}

function statusVerdict(status: unknown): Cancelled {
  switch (status) {
    case 'DONE':
      return { outcome: 'cancelled' }
    case 'FAILED':
    case 'FAIL':
      return { outcome: 'refused', reason: 'the refund of this eSIM failed at the supplier' }
    default:
      return typeof status === 'string'
        ? { outcome: 'pending' }
        : { outcome: 'unknown', reason: 'the refund has no state' }
  }
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

async function readPurchase(client: ZenditClient, kind: Kind, reference: string) {
  const answer = await client.get(`/${families[kind]}/purchases/${segment(reference)}`)
  if (answer.outcome === 'unknown') return answer
  if (answer.status === 404 && noOf(answer) !== undefined) return { outcome: 'none' } as const
  const record = answer.status === 200 ? recordOf(answer.body) : undefined
  return record !== undefined && isAbout(record, reference)
    ? ({ outcome: 'found', record } as const)
    : strange(answer)
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

const referencePattern = /^[A-Za-z0-9]{1,64}$/

/** Zendit accepts only alphanumeric references, so any other one is a defect of the store. */
function segment(reference: string): string {
  if (!referencePattern.test(reference)) throw new Error('The reference is not alphanumeric')
  return reference
}

export function zenditStatement(
  client: ZenditClient,
  { now, signal }: { readonly now: () => Date; readonly signal: AbortSignal },
): SupplierStatement {
  return {
    purchases: () => purchases(client, now(), signal),
    async purchase(kind, reference) {
      const response = await readPurchase(client, kind, reference)
      return response.outcome === 'found' ? holds(kind, response.record) : response
    },
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

function holds(kind: Kind, record: Raw): SupplierHolds {
  const purchase = purchaseOf(kind, record)
  if (purchase.state !== 'delivered') return { outcome: 'found', purchase }
  const delivery = deliveryOf(kind, record)
  // Without goods in its record there is nothing to deliver yet. They may still be written.
  return delivery === undefined
    ? { outcome: 'found', purchase: { ...purchase, state: 'pending' } }
    : { outcome: 'found', purchase, delivery }
}

/** @throws Error if the record is not a purchase, because none may be left out silently */
function purchaseOf(kind: Kind, record: Raw | undefined): SupplierPurchase {
  const { transactionId, offerId, cost, costCurrency, costCurrencyDivisor } = record ?? {}
  if (record === undefined || typeof transactionId !== 'string' || typeof offerId !== 'string') {
    throw new Error(`The supplier's list of ${kind} purchases has a record without a name`)
  }
  const country = countryOf(record['country'])
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

const maxText = 20_000

/** Undefined while the goods are not in the record of a finished purchase yet. */
export function deliveryOf(kind: Kind, record: Raw): Delivery | undefined {
  switch (kind) {
    case 'voucher':
      return voucherDelivery(record)
    case 'topup':
      return topupDelivery(record)
    case 'esim':
      return esimDelivery(record)
  }
}

type VoucherDelivery = Extract<Delivery, { kind: 'voucher' }>

/**
 * Zendit's receipt has one secret, `epin`, which is the code; some brands send `voucherId` instead. If a receipt has
 * both, or an `accountId`, nothing says what the second number is. It is passed on under its own name, so that the
 * buyer gets all of it and none of it is mislabelled as a PIN.
 *
 * Without a code or a link there is nothing to redeem yet, unless the goods were sent by mail.
 */
function voucherDelivery(record: Raw): Delivery | undefined {
  const receipt = recordOf(record['receipt'])
  if (receipt === undefined) return undefined
  const delivery = voucherOf(record, receipt)
  const isMailed = /mail/i.test(String(receipt['deliveryType']))
  if (delivery.code !== undefined || delivery.redemptionUrl !== undefined) return delivery
  return isMailed ? withExplanation(delivery, mailedWords) : undefined
}

const mailedWords =
  'The supplier has sent this voucher by e-mail to its recipient; no code was given to this store.'
const missingWords =
  'The supplier has delivered this voucher, and gave this store neither a code nor a link. It may have been sent by e-mail to its recipient.'

export function partialOf(kind: Kind, record: Raw): Delivery | undefined {
  if (kind !== 'voucher') return undefined
  return withExplanation(voucherOf(record, recordOf(record['receipt']) ?? {}), missingWords)
}

function withExplanation(delivery: VoucherDelivery, words: string): VoucherDelivery {
  return present({ ...delivery, instructions: joined([words, delivery.instructions]) })
}

function voucherOf(record: Raw, receipt: Raw): VoucherDelivery {
  const epin = secretOf(receipt['epin'])
  const voucherId = secretOf(receipt['voucherId'])
  const code = epin ?? voucherId
  const redemptionUrl = secretOf(receipt['redemptionUrl'])
  const others = [
    numberLine('Voucher ID', code === voucherId ? undefined : voucherId),
    numberLine('Account ID', secretOf(receipt['accountId'])),
  ]
  const confirmation = recordOf(record['confirmation'])
  return present({
    kind: 'voucher' as const,
    code,
    redemptionUrl,
    instructions: joined([textIn(receipt['instructions']), textIn(receipt['notes']), ...others]),
    terms: textIn(receipt['terms']),
    expiresAt: timeOf(receipt['expiresAt']),
    confirmationNumber:
      secretOf(receipt['confirmationNumber']) ?? secretOf(confirmation?.['confirmationNumber']),
    credited: creditedOf(record),
  })
}

/** Nothing has to be handed over, so a finished topup is delivered with or without a number. */
function topupDelivery(record: Raw): Delivery {
  const confirmation = recordOf(record['confirmation'])
  return present({
    kind: 'topup' as const,
    confirmationNumber: secretOf(confirmation?.['confirmationNumber']),
    credited: creditedOf(record),
  })
}

/** A plan for an installed eSIM may come without an activation code. */
function esimDelivery(record: Raw): Delivery | undefined {
  const confirmation = recordOf(record['confirmation'])
  const iccid = secretOf(confirmation?.['iccid'])?.replace(/F$/i, '')
  if (confirmation === undefined || iccid === undefined) return undefined
  return present({
    kind: 'esim' as const,
    iccid,
    smdpAddress: secretOf(confirmation['smdpAddress']),
    ...activationOf(secretOf(confirmation['activationCode'])),
    instructions: textIn(confirmation['redemptionInstructions']),
  })
}

/** By itself, or in the text of its QR code, which names the host too: "LPA:1$host$code", and more (SGP.22 4.1). */
function activationOf(text: string | undefined) {
  const [, parts] = /^(?:LPA:)?(1\$.+)$/i.exec(text ?? '') ?? []
  if (parts === undefined) return { activationCode: text }
  const [, host, code] = parts.split('$')
  const address = host ? { smdpAddress: host } : {}
  return { ...address, activationCode: code || undefined, lpa: `LPA:${parts}` }
}

function creditedOf(record: Raw) {
  const currency = record['sendCurrency']
  const amount = positiveOf(record['send'])
  const currencyDivisor = wholePositiveOf(record['sendCurrencyDivisor'])
  const isMoney = amount && currencyDivisor && typeof currency === 'string' && currency !== ''
  return isMoney ? { amount, currency, currencyDivisor } : undefined
}

export function chargeOf(record: Raw): Charge | undefined {
  const { cost: amount, costCurrency: currency, costCurrencyDivisor: divisor } = record
  const isCharge =
    Number.isSafeInteger(amount) && typeof currency === 'string' && wholePositiveOf(divisor)
  return isCharge ? { amount: amount as number, currency, divisor: divisor as number } : undefined
}

/** A code must reach the buyer unchanged: not cut, and not cleaned except for the space around it. */
function secretOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  return text === '' || text.length > maxText ? undefined : text
}

function textIn(value: unknown): string | undefined {
  return secretOf(typeof value === 'string' ? value.slice(0, maxText) : value)
}

function timeOf(value: unknown): string | undefined {
  const time = secretOf(value)
  return time?.startsWith('0001-') ? undefined : time
}

function numberLine(label: string, value: string | undefined): string | undefined {
  return value === undefined ? undefined : `${label}: ${value}`
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  const text = parts.filter((part) => part !== undefined).join('\n')
  return textIn(text)
}
