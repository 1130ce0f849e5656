import type { Pool } from 'pg'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { createGoodwillStore } from '../adapters/storage/goodwill.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import {
  createPayoutRecord,
  type RefundCaps,
  readPayoutQueue,
  switchRefunds,
} from '../adapters/storage/payouts.ts'
import { isInvoiced, isVoid, returnOfReference, withReturn } from '../checkouts/checkout.ts'
import { isOrderId, type OrderId } from '../lib/ids.ts'
import { formatUsdc } from '../lib/money.ts'
import { never } from '../lib/never.ts'
import { droppedGoodwill, goodwillFor, orderOfGoodwill } from '../orders/goodwill.ts'
import { isRefunding } from '../orders/order.ts'
import type { Payout, PayoutIn } from '../orders/payout.ts'
import { retryRefund, whyNotTried } from '../orders/refund.ts'
import { moveAside } from '../orders/workflow.ts'
import { paymentNotShown, paymentVanished } from '../payments/pay-back-faults.ts'
import type { RefundsCommand } from './refunds-arguments.ts'
import { notePaid } from './refunds-by-hand.ts'
import { handLines, statusLines } from './refunds-status.ts'

interface Operator {
  readonly database: Pool
  readonly caps: RefundCaps
  /** Who runs the command, for the record. */
  readonly by: string
}

/** What was done, in lines. `isDone` is false if something could not be done. */
interface Done {
  readonly isDone: boolean
  readonly lines: readonly string[]
}

/** Does what the operator wants, on the store's own database and for all of its nodes. */
export async function carryOut(operator: Operator, command: RefundsCommand): Promise<Done> {
  switch (command.does) {
    case 'status':
      return done(statusLines(await readPayoutQueue(operator.database), operator.caps))
    case 'stop':
      await turn(operator, true, command.reason)
      return done(['Refunds are stopped, on every node. Each one waits and goes on after "start".'])
    case 'start':
      return start(operator, command.reason)
    case 'retry':
      return command.names === 'all' ? retryAll(operator) : retryThese(operator, command.names)
    case 'drop':
      return doneEach(command.names, (name) => {
        const given = orderOfGoodwill(name)
        return given === undefined ? dropReturn(operator, name) : dropGoodwill(operator, given)
      })
    case 'hand':
      return done(handLines(await readPayoutQueue(operator.database)))
    case 'paid':
      return paid(operator, command)
    case 'goodwill':
      return doneEach([command.order], () => giveGoodwill(operator, command))
    default:
      return never(command)
  }
}

function turn({ database, by }: Operator, stopped: boolean, reason: string | undefined) {
  return switchRefunds(database, { stopped, reason, by })
}

/** Makes payouts that were held due now, and not only after their pause. */
async function start(operator: Operator, reason: string | undefined): Promise<Done> {
  await turn(operator, false, reason)
  const orders = createOrderStore(operator.database)
  const checkouts = createCheckoutStore(operator.database)
  const { open } = await readPayoutQueue(operator.database)
  const going = open.filter(({ state }) => state === 'DUE' || state === 'APPROVED')
  for (const { reference, invoice } of going) {
    const given = orderOfGoodwill(reference)
    if (given !== undefined) await createGoodwillStore(operator.database).hasten(given)
    else if (invoice === null) await orders.hasten(reference as OrderId)
    else await checkouts.hasten(invoice)
  }
  return done([`Refunds go out again. ${going.length} of them were waiting.`])
}

/** Notes the transaction, and makes a payout in a coin due at once: its next step finds the note. */
async function paid(
  operator: Operator,
  { does: _, ...payment }: Extract<RefundsCommand, { does: 'paid' }>,
): Promise<Done> {
  const { reference } = payment
  const { isNoted, line } = await notePaid(operator.database, { ...payment, by: operator.by })
  // A refund in USDC was booked together with the note, so this leaves it as it is.
  if (isNoted) await retryThese(operator, [reference])
  return { isDone: isNoted, lines: [`${reference}: ${line}`] }
}

async function retryAll(operator: Operator): Promise<Done> {
  const { open } = await readPayoutQueue(operator.database)
  const failed = open.filter(({ state }) => state === 'FAILED').map(({ reference }) => reference)
  if (failed.length === 0) return done(['No refund has failed.'])
  const { lines } = await retryThese(operator, failed)
  return done(lines)
}

function retryThese(operator: Operator, names: readonly string[]): Promise<Done> {
  return doneEach(names, (name) => {
    const given = orderOfGoodwill(name)
    if (given !== undefined) return retryGoodwill(operator, given)
    return isOrderId(name) ? retryOrder(operator, name) : retryReturn(operator, name)
  })
}

/** What became of one payout, in words. */
interface Tried {
  readonly isDone: boolean
  readonly line: string
}

async function doneEach(
  names: readonly string[],
  work: (name: string) => Promise<Tried>,
): Promise<Done> {
  const tried: Tried[] = []
  for (const name of names) tried.push(await work(name))
  return {
    isDone: tried.every(({ isDone }) => isDone),
    lines: tried.map(({ line }, at) => `${names[at]}: ${line}`),
  }
}

const no = (line: string): Tried => ({ isDone: false, line })
const moved = no('another process changed it meanwhile; look at it again')
const noGoodwill = no('no goodwill was given for this order')
const dueAgain: Tried = { isDone: true, line: 'due again' }
const dropped: Tried = { isDone: true, line: 'dropped; nothing is owed' }

async function giveGoodwill(
  { database, by }: Operator,
  { order: id, ...gift }: Extract<RefundsCommand, { does: 'goodwill' }>,
): Promise<Tried> {
  const goodwill = createGoodwillStore(database)
  const order = await createOrderStore(database).find(id)
  const made = goodwillFor(order, { ...gift, by }, new Date())
  if (typeof made === 'string') return no(made)
  if (await goodwill.give(made)) {
    const line = `gives ${formatUsdc(made.amount)} USDC to ${made.tender.payer}; the running store pays it`
    return { isDone: true, line }
  }
  const before = await goodwill.find(id)
  return no(
    `${before?.by} gave ${before && formatUsdc(before.amount)} USDC for it already, at ` +
      `${before?.givenAt.toISOString()} (${before?.payout.state})`,
  )
}

/** Makes it due again. What was signed stays, because whoever has it can still have it paid. */
async function retryGoodwill({ database }: Operator, id: OrderId): Promise<Tried> {
  const goodwill = createGoodwillStore(database)
  const found = await goodwill.find(id)
  if (!found) return noGoodwill
  const { payout } = found
  if (payout.state !== 'FAILED') return no(`it has not failed; it is ${payout.state}`)
  const due = { state: 'DUE', ...(payout.signed && { signed: payout.signed }) } as const
  const { won } = await moveAside(goodwill, found, { ...found, payout: due })
  return won ? dueAgain : moved
}

/** Ends goodwill that cannot be paid. Nothing is owed: it was a gift. */
async function dropGoodwill({ database, by }: Operator, id: OrderId): Promise<Tried> {
  const goodwill = createGoodwillStore(database)
  const found = await goodwill.find(id)
  if (!found) return noGoodwill
  const to = droppedGoodwill(found, by, new Date())
  if (typeof to === 'string') return no(to)
  const { won } = await moveAside(goodwill, found, to)
  return won ? dropped : moved
}

/** Makes it due again, or says why not. */
async function retryOrder({ database }: Operator, id: OrderId): Promise<Tried> {
  const orders = createOrderStore(database)
  const order = await orders.find(id)
  const why = whyNotTried(order)
  if (why !== undefined || !order || !isRefunding(order)) return no(why ?? 'nothing is owed')
  const tried = await retryRefund(orders, order, 'operator')
  return tried.payout?.state === 'DUE' ? dueAgain : no(whyNotTried(tried) ?? 'nothing is owed')
}

async function retryReturn({ database }: Operator, reference: string): Promise<Tried> {
  const found = await failedReturn(database, reference)
  if ('line' in found) return found
  return (await found.moveTo({ state: 'DUE' })) ? dueAgain : moved
}

/** Ends a return whose money the processor does not show any more. What it shows gets another return. */
async function dropReturn({ database }: Operator, reference: string): Promise<Tried> {
  const found = await failedReturn(database, reference)
  if ('line' in found) return found
  const { code, reason } = found.payout
  if (code !== paymentNotShown) return no(`it is owed; it failed with ${code}`)
  if (!(await found.moveTo({ state: 'FAILED', code: paymentVanished, reason }))) return moved
  await createPayoutRecord(database).rests(reference)
  return dropped
}

interface FailedReturn {
  readonly payout: PayoutIn<'FAILED'>
  /** False if another worker moved its checkout meanwhile. */
  moveTo(payout: Payout): Promise<boolean>
}

/** The return, or why it is left as it is. */
async function failedReturn(database: Pool, reference: string): Promise<FailedReturn | Tried> {
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

function done(lines: readonly string[]): Done {
  return { isDone: true, lines }
}
