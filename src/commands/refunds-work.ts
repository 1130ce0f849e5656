import { hostname, userInfo } from 'node:os'
import type { Pool } from 'pg'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import { type RefundCaps, switchRefunds } from '../adapters/storage/payout-limits.ts'
import { readPayoutQueue } from '../adapters/storage/payout-queue.ts'
import { isInvoiced, returnOfReference, withReturn } from '../checkouts/checkout.ts'
import { isOrderId, type OrderId } from '../lib/ids.ts'
import { never } from '../lib/never.ts'
import { isRefunding } from '../orders/order.ts'
import { retryRefund, whyNotTried } from '../orders/refund.ts'
import { moveAside } from '../orders/workflow.ts'
import type { RefundsCommand } from './refunds-arguments.ts'
import { notePaid } from './refunds-by-hand.ts'
import { handLines, statusLines } from './refunds-status.ts'

interface Operator {
  readonly database: Pool
  readonly caps: RefundCaps
  /** Who runs the command, for the record. */
  readonly by: string
}

/**
 * The account that runs the command, and its machine. A container may run as a user id without an account.
 */
export function operatorName(account: () => { readonly username: string } = userInfo): string {
  try {
    return `${account().username}@${hostname()}`
  } catch {
    return `uid ${process.getuid?.()}@${hostname()}`
  }
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
    case 'hand':
      return done(handLines(await readPayoutQueue(operator.database)))
    case 'paid':
      return paid(operator, command)
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
    await (invoice === null ? orders.hasten(reference as OrderId) : checkouts.hasten(invoice))
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
  if (isNoted) await retryEach(operator, [reference])
  return { isDone: isNoted, lines: [`${reference}: ${line}`] }
}

async function retryAll(operator: Operator): Promise<Done> {
  const { open } = await readPayoutQueue(operator.database)
  const failed = open.filter(({ state }) => state === 'FAILED').map(({ reference }) => reference)
  if (failed.length === 0) return done(['No refund has failed.'])
  const tried = await retryEach(operator, failed)
  return done(tried.map(({ line }) => line))
}

async function retryThese(operator: Operator, names: readonly string[]): Promise<Done> {
  const tried = await retryEach(operator, names)
  return { isDone: tried.every(({ isDue }) => isDue), lines: tried.map(({ line }) => line) }
}

interface Tried {
  readonly isDue: boolean
  readonly line: string
}

async function retryEach(operator: Operator, names: readonly string[]): Promise<readonly Tried[]> {
  const tried: Tried[] = []
  for (const name of names) {
    const why = isOrderId(name)
      ? await retryOrder(operator, name)
      : await retryOneReturn(operator, name)
    tried.push({ isDue: why === undefined, line: `${name}: ${why ?? 'due again'}` })
  }
  return tried
}

/** Makes it due again, or says why not. */
async function retryOrder({ database }: Operator, id: OrderId): Promise<string | undefined> {
  const orders = createOrderStore(database)
  const order = await orders.find(id)
  const why = whyNotTried(order)
  if (why === undefined && order && isRefunding(order)) await retryRefund(orders, order, 'operator')
  return why
}

async function retryOneReturn(
  { database }: Operator,
  reference: string,
): Promise<string | undefined> {
  const named = returnOfReference(reference)
  const checkouts = createCheckoutStore(database)
  const checkout = named && (await checkouts.find(named.id))
  if (!checkout || !isInvoiced(checkout)) return 'there is no such return'
  const state = checkout.returns.find(({ seq }) => seq === named.seq)?.payout.state
  if (state === undefined) return 'there is no such return'
  if (state !== 'FAILED') return `it has not failed; it is ${state}`
  await moveAside(checkouts, checkout, withReturn(checkout, named.seq, { state: 'DUE' }))
  return undefined
}

function done(lines: readonly string[]): Done {
  return { isDone: true, lines }
}
