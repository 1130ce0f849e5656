import type { Database } from '../adapters/storage/database.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import { readRefundDesk } from '../adapters/storage/refund-desk.ts'
import type { RefundCaps } from '../adapters/storage/treasury.ts'
import { switchRefunds } from '../adapters/storage/treasury.ts'
import { isRefunding, type Order } from '../orders/order.ts'
import { retryRefund } from '../orders/retry-refund.ts'
import type { OrderId } from '../primitives/ids.ts'
import { never } from '../primitives/never.ts'
import { type RefundsCommand, statusLines } from './refunds-words.ts'

interface Desk {
  readonly database: Database
  readonly caps: RefundCaps
  /** Who sits at it, for the record. */
  readonly by: string
}

/** What was done, in lines; false when something that was asked for could not be done. */
interface Done {
  readonly isDone: boolean
  readonly lines: readonly string[]
}

/** Does what the operator wants, on the store's own database and for all of its nodes. */
export async function carryOut(desk: Desk, command: RefundsCommand): Promise<Done> {
  switch (command.does) {
    case 'status':
      return done(statusLines(await readRefundDesk(desk.database), desk.caps))
    case 'stop':
      await turn(desk, true, command.reason)
      return done(['Refunds are stopped, on every node. Each one waits and goes on after "start".'])
    case 'start':
      return start(desk, command.reason)
    case 'retry':
      return command.orders === 'all' ? retryAll(desk) : retryThese(desk, command.orders)
    default:
      return never(command)
  }
}

function turn({ database, by }: Desk, stopped: boolean, reason: string | undefined) {
  return switchRefunds(database, { stopped, reason, by })
}

/** What was held back is looked at now, and not only when its pause is over. */
async function start(desk: Desk, reason: string | undefined): Promise<Done> {
  await turn(desk, false, reason)
  const orders = createOrderStore(desk.database)
  const { open } = await readRefundDesk(desk.database)
  const waiting = open.filter(({ step }) => step === 'DUE' || step === 'SIGNED')
  for (const { order } of waiting) await orders.hasten(order)
  return done([`Refunds go out again. ${waiting.length} of them were waiting.`])
}

async function retryAll(desk: Desk): Promise<Done> {
  const { open } = await readRefundDesk(desk.database)
  const failed = open.filter(({ step }) => step === 'FAILED')
  if (failed.length === 0) return done(['No refund has failed.'])
  const tried = await retryEach(
    desk,
    failed.map(({ order }) => order),
  )
  return done(tried.map(({ line }) => line))
}

async function retryThese(desk: Desk, orders: readonly OrderId[]): Promise<Done> {
  const tried = await retryEach(desk, orders)
  return { isDone: tried.every(({ isDue }) => isDue), lines: tried.map(({ line }) => line) }
}

interface Tried {
  readonly isDue: boolean
  readonly line: string
}

async function retryEach({ database }: Desk, ids: readonly OrderId[]): Promise<readonly Tried[]> {
  const orders = createOrderStore(database)
  const tried: Tried[] = []
  for (const id of ids) {
    const order = await orders.find(id)
    const why = whyNot(order)
    if (why === undefined && order && isRefunding(order)) await retryRefund(orders, order)
    tried.push({ isDue: why === undefined, line: `${id}: ${why ?? 'due again'}` })
  }
  return tried
}

/** Why this refund is not tried again, or undefined when it is. */
function whyNot(order: Order | undefined): string | undefined {
  if (!order) return 'there is no such order'
  if (!isRefunding(order)) return `it is ${order.state} and has no refund`
  const { refund } = order
  if (refund.step !== 'FAILED') return `its refund has not failed; it is ${refund.step}`
  return order.settlement === 'LOST' || refund.code === 'payment_vanished'
    ? 'its payment vanished from the chain, so nothing is owed'
    : undefined
}

function done(lines: readonly string[]): Done {
  return { isDone: true, lines }
}
