import type { AuditEntry } from '../adapters/storage/audit.ts'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import type { Database } from '../adapters/storage/database.ts'
import { createGoodwillStore } from '../adapters/storage/goodwill.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import {
  bookByHand,
  createHandPayouts,
  createPayoutRecord,
  type Noted,
  type OpenPayout,
  type RefundCaps,
  readPayoutQueue,
  switchRefunds,
} from '../adapters/storage/payouts.ts'
import { isInvoiced, isVoid, returnOfReference, withReturn } from '../checkouts/checkout.ts'
import { never } from '../lib/errors.ts'
import { isOrderId, type OrderId } from '../lib/ids.ts'
import { formatUsdc, type Usdc } from '../lib/money.ts'
import { droppedGoodwill, goodwillFor, orderOfGoodwill, unitsOf } from '../orders/goodwill.ts'
import { isRefunding, type Order, withPayout } from '../orders/order.ts'
import { type Payout, type PayoutIn, payeeDeclined, whyLive } from '../orders/payout.ts'
import { whyNotTried } from '../orders/refund.ts'
import { moveAside } from '../orders/workflow.ts'
import { formatUnits } from '../payments/coins.ts'
import {
  addressOf,
  nonceSpent,
  noteTransaction,
  operatorPays,
  payableByHand,
  paymentNotShown,
  paymentVanished,
} from '../payments/payment.ts'
import { audited } from './audit.ts'
import type { Operator } from './operator.ts'

/** Who acts on refunds: no more of an operator is needed. */
export type RefundsOperator = Pick<Operator, 'database' | 'by' | 'now'>

/** In the transaction of an act. */
type Acting = Omit<RefundsOperator, 'database'> & { readonly database: Database }

export interface Outcome {
  readonly isDone: boolean
  /** A sentence without its capital and full stop. */
  readonly told: string
}

/** What became of one payout that was named. */
export interface Tried extends Outcome {
  readonly reference: string
}

/** On every node, at once. */
export async function stopRefunds(operator: RefundsOperator, reason: string) {
  await turn(operator, true, reason)
  return { stopped: true }
}

function turn(operator: RefundsOperator, stopped: boolean, reason?: string): Promise<void> {
  const act = stopped ? 'refund stop' : 'refund start'
  return audited(operator, { act, subject: 'refunds', after: { stopped }, reason }, (client) =>
    switchRefunds(client, { stopped, reason, by: operator.by }),
  )
}

/** Makes payouts that were held due now, and not only after their pause. */
export async function startRefunds(operator: RefundsOperator, reason?: string) {
  const { database } = operator
  await turn(operator, false, reason)
  const { openPayouts } = await readPayoutQueue(database)
  const going = openPayouts.filter(({ state }) => state === 'DUE' || state === 'APPROVED')
  for (const { reference, invoice } of going) {
    const goodwillOrder = orderOfGoodwill(reference)
    if (goodwillOrder !== undefined) await createGoodwillStore(database).hasten(goodwillOrder)
    else if (invoice === null) await createOrderStore(database).hasten(reference as OrderId)
    else await createCheckoutStore(database).hasten(invoice)
  }
  return { stopped: false, waiting: going.length }
}

/** Makes those due again that have failed. */
export async function retryRefunds(
  operator: RefundsOperator,
  which: 'all' | readonly string[],
): Promise<readonly Tried[]> {
  const retry = (names: readonly string[]) => each(operator, 'refund retry', names, retryPayout)
  if (which !== 'all') return retry(which)
  const { openPayouts } = await readPayoutQueue(operator.database)
  const failed = openPayouts.filter(({ state }) => state === 'FAILED')
  return retry(failed.map(({ reference }) => reference))
}

/**
 * Makes payouts due whose payee is on the denylist, and lets them go to it this once. The payee stays on the list: it
 * buys nothing, and what is owed to it later is held again.
 */
export function releaseRefunds(
  operator: RefundsOperator,
  references: readonly string[],
  reason: string,
): Promise<readonly Tried[]> {
  return each(operator, 'refund release', references, releasePayout, reason)
}

/** Ends what failed and is not owed: returns whose payment is not shown any more, and goodwill. */
export function dropRefunds(
  operator: RefundsOperator,
  references: readonly string[],
): Promise<readonly Tried[]> {
  return each(operator, 'refund drop', references, (acting, name) => {
    const goodwillOrder = orderOfGoodwill(name)
    return goodwillOrder === undefined
      ? dropReturn(acting, name)
      : dropGoodwill(acting, goodwillOrder)
  })
}

async function each(
  operator: RefundsOperator,
  act: string,
  references: readonly string[],
  work: (acting: Acting, reference: string) => Promise<Outcome>,
  reason?: string,
): Promise<readonly Tried[]> {
  const tried: Tried[] = []
  for (const reference of references) {
    const entry = ({ isDone }: Outcome) =>
      isDone ? { ...payoutEntry(act, reference), reason } : undefined
    const outcome = await audited(operator, entry, (database) =>
      work({ ...operator, database }, reference),
    )
    tried.push({ reference, ...outcome })
  }
  return tried
}

/** A payout belongs to an order or to a checkout. */
function payoutEntry(act: string, reference: string, more: object = {}): AuditEntry {
  const [id = ''] = reference.split('-')
  return { act, subject: subjectOf(id), after: { reference, ...more } }
}

const subjectOf = (id: string) => `${isOrderId(id) ? 'order' : 'checkout'}:${id}`

const yes = (told: string): Outcome => ({ isDone: true, told })
const no = (told: string): Outcome => ({ isDone: false, told })
const moved = no('another process changed it meanwhile; look at it again')
const noGoodwill = no('no goodwill was given for this order')
const dropped = yes('dropped; nothing is owed')

export interface Gift {
  readonly order: OrderId
  readonly amount: Usdc
  readonly reason: string
}

/** Money of the store's own for the buyer of delivered goods: once an order, and at most its price. */
export async function giveGoodwill(
  operator: RefundsOperator,
  { order: id, ...gift }: Gift,
): Promise<Outcome> {
  const { database, by, now } = operator
  const goodwill = createGoodwillStore(database)
  const order = await createOrderStore(database).find(id)
  const made = goodwillFor(order, { ...gift, by }, now())
  if (typeof made === 'string') return no(made)
  const after = { amountUsdc: formatUsdc(made.amount) }
  const entry = { act: 'refund goodwill', subject: subjectOf(id), after, reason: made.reason }
  const isGiven = await audited(
    operator,
    (given: boolean) => (given ? entry : undefined),
    (client) => createGoodwillStore(client).give(made),
  )
  if (isGiven) {
    const { amount, payment } = made
    const text =
      payment.method === 'x402'
        ? `${formatUsdc(amount)} USDC`
        : `${formatUnits(unitsOf(made), payment.asset)} ${payment.asset}`
    return yes(`gives ${text} to ${addressOf(payment)}; the running store pays it`)
  }
  const before = await goodwill.find(id)
  return no(
    `${before?.by} gave ${before && formatUsdc(before.amount)} USDC for it already, at ` +
      `${before?.givenAt.toISOString()} (${before?.payout.state})`,
  )
}

/** Of two who retry one at once, one finds it changed. What was signed stays: whoever has it can have it paid. */
async function retryPayout({ database }: Acting, name: string): Promise<Outcome> {
  const failed = await failedPayoutOf(database, name)
  if ('told' in failed) return failed
  const { signed } = failed.payout
  return (await failed.moveTo({ state: 'DUE', ...(signed && { signed }) }))
    ? yes('due again')
    : moved
}

async function releasePayout({ database }: Acting, name: string): Promise<Outcome> {
  const held = await failedPayoutOf(database, name)
  if ('told' in held) return held
  const { code, signed } = held.payout
  if (code !== payeeDeclined) return no(`the denylist does not hold it; it failed with ${code}`)
  const due = { state: 'DUE', isReleased: true, ...(signed && { signed }) } as const
  return (await held.moveTo(due)) ? yes('released, and due again') : moved
}

function failedPayoutOf(database: Database, name: string): Promise<FailedPayout | Outcome> {
  const goodwillOrder = orderOfGoodwill(name)
  if (goodwillOrder !== undefined) return failedGoodwill(database, goodwillOrder)
  return isOrderId(name) ? failedRefund(database, name) : failedReturn(database, name)
}

async function failedGoodwill(database: Database, id: OrderId): Promise<FailedPayout | Outcome> {
  const goodwill = createGoodwillStore(database)
  const stored = await goodwill.find(id)
  if (!stored) return noGoodwill
  const { payout } = stored
  if (payout.state !== 'FAILED') return no(`it has not failed; it is ${payout.state}`)
  return {
    payout,
    moveTo: async (to) => (await moveAside(goodwill, stored, { ...stored, payout: to })).won,
  }
}

async function failedRefund(database: Database, id: OrderId): Promise<FailedPayout | Outcome> {
  const orders = createOrderStore(database)
  const order = await orders.find(id)
  const why = whyNotTried(order)
  if (!order || !isRefunding(order) || order.payout?.state !== 'FAILED' || why !== undefined) {
    return no(why ?? 'nothing is owed')
  }
  return {
    payout: order.payout,
    moveTo: async (to) => (await moveAside(orders, order, withPayout(order, to))).won,
  }
}

/** Nothing is owed: it was a gift. */
async function dropGoodwill({ database, by, now }: Acting, id: OrderId): Promise<Outcome> {
  const goodwill = createGoodwillStore(database)
  const stored = await goodwill.find(id)
  if (!stored) return noGoodwill
  const to = droppedGoodwill(stored, by, now())
  if (typeof to === 'string') return no(to)
  const { won } = await moveAside(goodwill, stored, to)
  return won ? dropped : moved
}

/** What the processor shows after all gets another return. */
async function dropReturn({ database }: Acting, reference: string): Promise<Outcome> {
  const result = await failedReturn(database, reference)
  if ('told' in result) return result
  const { code, reason } = result.payout
  if (code !== paymentNotShown) return no(`it is owed; it failed with ${code}`)
  if (!(await result.moveTo({ state: 'FAILED', code: paymentVanished, reason }))) return moved
  await createPayoutRecord(database).rests(reference)
  return dropped
}

interface FailedPayout {
  readonly payout: PayoutIn<'FAILED'>
  moveTo(payout: Payout): Promise<boolean>
}

async function failedReturn(
  database: Database,
  reference: string,
): Promise<FailedPayout | Outcome> {
  const named = returnOfReference(reference)
  const checkouts = createCheckoutStore(database)
  const checkout = named && (await checkouts.find(named.id))
  const one =
    checkout && isInvoiced(checkout) && checkout.returns.find(({ seq }) => seq === named.seq)
  if (!one) return no('there is no such return')
  const { payout } = one
  if (payout.state !== 'FAILED') return no(`it has not failed; it is ${payout.state}`)
  if (isVoid(one)) return no('its payment vanished, so nothing is owed')
  return {
    payout,
    async moveTo(to) {
      const { won } = await moveAside(checkouts, checkout, withReturn(checkout, one.seq, to))
      return won
    },
  }
}

export interface PaidByHand {
  readonly reference: string
  readonly transaction: string
  /** Which of several equal transfers in the transaction it is, from 1. */
  readonly transfer?: number
}

/**
 * Notes the transaction with which a person paid it, for good. A payout in a coin is due at once: its next step finds
 * the note.
 */
export async function recordPaid(operator: RefundsOperator, payment: PaidByHand): Promise<Outcome> {
  const result = await notePaid(operator, payment)
  // A refund in USDC was booked together with the note, so this leaves it as it is.
  if (result.isDone) await retryPayout(operator, payment.reference)
  return result
}

async function notePaid(
  operator: RefundsOperator,
  { reference, transaction, transfer = 1 }: PaidByHand,
): Promise<Outcome> {
  const { database, by, now } = operator
  const notes = createHandPayouts(database)
  const before = await notes.find(reference)
  if (before === transaction) return describeResult({ outcome: 'same' }, '')
  if (before !== undefined) {
    return describeResult({ outcome: 'other_transaction', transaction: before }, '')
  }
  const made = { transaction, transfer, by }
  const order = isOrderId(reference) ? await createOrderStore(database).find(reference) : undefined
  if (order?.payment.method === 'x402') return noteRefund(database, order, made, now())
  const { openPayouts } = await readPayoutQueue(database)
  const payout = openPayouts.find(
    (one) => one.reference === reference && one.state === 'FAILED' && payableByHand.has(one.code),
  )?.inCoin
  if (!payout)
    return no('it does not wait to be paid by hand; kiosk402 refund status tells how it stands')
  const { units, coin, to } = payout
  const line = `noted as paid: ${formatUnits(units, coin)} ${coin} to ${to}`
  const entry = payoutEntry('refund paid', reference, { transaction })
  const noted = await audited(
    operator,
    ({ outcome }: Noted) => (outcome === 'noted' ? entry : undefined),
    (client) => createHandPayouts(client).note({ ...payout, ...made }),
  )
  return describeResult(noted, line)
}

/** One that its own authorization cannot pay any more, paid by a plain transfer. */
async function noteRefund(
  database: Operator['database'],
  order: Order,
  made: Parameters<typeof bookByHand>[2],
  at: Date,
): Promise<Outcome> {
  if (!made.transaction.startsWith('0x')) return no('a transaction of USDC begins with 0x')
  const why = whyNotTried(order)
  if (why !== undefined || !isRefunding(order)) return no(why ?? 'nothing is owed')
  const live = order.payout?.state === 'FAILED' ? whyLive(order.payout, at) : undefined
  if (live !== undefined) return no(live)
  const booked = await bookByHand(database, order, made)
  if (booked.outcome === 'moved') return moved
  const { amount, payment } = order
  return describeResult(booked, `booked as paid: ${formatUsdc(amount)} USDC to ${payment.payer}`)
}

function describeResult(result: Noted, line: string): Outcome {
  switch (result.outcome) {
    case 'noted':
      return yes(line)
    case 'same':
      return yes('was noted before, with this transaction')
    case 'other_transaction':
      return no(`was noted before, with another transaction: ${result.transaction}`)
    case 'other_payout':
      return no(
        `this transaction was noted for ${result.reference}, of the same amount and address; ` +
          'if it has another transfer like that, say so with --transfer 2',
      )
    default:
      return never(result)
  }
}

/** In USDC, and the caps in it. */
interface GrantedText {
  readonly hourUsdc: string
  readonly dayUsdc: string
}

/** What an open payout waits for. */
type WaitsFor = 'retry' | 'release' | 'your_payment' | 'its_transaction' | 'the_store'

export type RefundStatus = Awaited<ReturnType<typeof refundStatus>>

/** Whether refunds go out, what was granted against the caps, and every payout that is open. */
export async function refundStatus(
  { database }: Pick<RefundsOperator, 'database'>,
  caps: RefundCaps,
) {
  const queue = await readPayoutQueue(database)
  const { stopped, at: since, by, reason } = queue.refundSwitch
  return {
    switch: { stopped, since, by, reason },
    caps: inText(caps),
    granted: {
      refunds: inText(queue.granted),
      returns: inText(queue.returnsGranted),
      goodwill: inText(queue.goodwillGranted),
    },
    open: queue.openPayouts.map(openPayout),
  }
}

/** The same payouts, without the caps. */
export async function openPayouts(database: Database) {
  return (await readPayoutQueue(database)).openPayouts.map(openPayout)
}

const inText = ({ hour, day }: RefundCaps): GrantedText => {
  return { hourUsdc: formatUsdc(hour), dayUsdc: formatUsdc(day) }
}

function openPayout(one: OpenPayout) {
  const { reference, state, code, reason, since, to, worth, inCoin } = one
  return {
    ...{ reference, state, code, reason, since, to },
    waitsFor: waitsFor(one),
    worthUsdc: formatUsdc(worth),
    amount: inCoin ? formatUnits(inCoin.units, inCoin.coin) : formatUsdc(worth),
    coin: inCoin?.coin ?? 'USDC',
    network: inCoin?.network ?? null,
  }
}

function waitsFor({ reference, state, code, inCoin, isNoted }: OpenPayout): WaitsFor {
  if (state !== 'FAILED') return 'the_store'
  if (code === payeeDeclined) return 'release'
  const isByHand = inCoin
    ? code === operatorPays || code === noteTransaction
    : code === nonceSpent && isOrderId(reference)
  if (!isByHand || isNoted) return 'retry'
  return code === noteTransaction ? 'its_transaction' : 'your_payment'
}
