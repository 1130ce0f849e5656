import type { Pool } from 'pg'
import { createCheckoutStore } from '../adapters/storage/checkouts.ts'
import { createGoodwillStore } from '../adapters/storage/goodwill.ts'
import { createOrderStore } from '../adapters/storage/orders.ts'
import {
  bookByHand,
  createHandPayouts,
  createPayoutRecord,
  type Noted,
  type OpenPayout,
  type PayoutQueue,
  type RefundCaps,
  readPayoutQueue,
  switchRefunds,
} from '../adapters/storage/payouts.ts'
import { isInvoiced, isVoid, returnOfReference, withReturn } from '../checkouts/checkout.ts'
import { never } from '../lib/errors.ts'
import { isOrderId, type OrderId } from '../lib/ids.ts'
import { formatUsdc, type Usdc, usdc } from '../lib/money.ts'
import { droppedGoodwill, goodwillFor, orderOfGoodwill } from '../orders/goodwill.ts'
import { isRefunding, type Order } from '../orders/order.ts'
import { type Payout, type PayoutIn, whyLive } from '../orders/payout.ts'
import { retryRefund, whyNotTried } from '../orders/refund.ts'
import { moveAside } from '../orders/workflow.ts'
import { formatUnits } from '../payments/coins.ts'
import {
  nonceSpent,
  noteTransaction,
  operatorPays,
  payableByHand,
  paymentNotShown,
  paymentVanished,
} from '../payments/payment.ts'
import { onDatabase, operatorName, printLines, runCommand } from './command-line.ts'
import { commandOf, type RefundsCommand, usage } from './refunds-arguments.ts'

interface Operator {
  readonly database: Pool
  readonly caps: RefundCaps
  readonly by: string
}

interface Done {
  readonly isDone: boolean
  readonly lines: readonly string[]
}

export async function carryOut(operator: Operator, command: RefundsCommand): Promise<Done> {
  const { database } = operator
  switch (command.does) {
    case 'status':
      return done(statusLines(await readPayoutQueue(database), operator.caps))
    case 'stop':
      await switchRefunds(database, { stopped: true, reason: command.reason, by: operator.by })
      return done(['Refunds are stopped, on every node. Each one waits and goes on after "start".'])
    case 'start':
      return startRefunds(operator, command.reason)
    case 'retry':
      return command.names === 'all'
        ? retryAll(operator)
        : doneEach(command.names, (name) => retryPayout(operator, name))
    case 'drop':
      return doneEach(command.names, (name) => dropPayout(operator, name))
    case 'paid':
      return doneEach([command.reference], () => recordPaid(operator, command))
    case 'goodwill':
      return doneEach([command.order], () => giveGoodwill(operator, command))
    default:
      return never(command)
  }
}

/** Makes payouts that were held due now, and not only after their pause. */
async function startRefunds({ database, by }: Operator, reason: string | undefined): Promise<Done> {
  await switchRefunds(database, { stopped: false, reason, by })
  const { openPayouts } = await readPayoutQueue(database)
  const going = openPayouts.filter(({ state }) => state === 'DUE' || state === 'APPROVED')
  for (const { reference, invoice } of going) {
    const goodwillOrder = orderOfGoodwill(reference)
    if (goodwillOrder !== undefined) await createGoodwillStore(database).hasten(goodwillOrder)
    else if (invoice === null) await createOrderStore(database).hasten(reference as OrderId)
    else await createCheckoutStore(database).hasten(invoice)
  }
  return done([`Refunds go out again. ${going.length} of them were waiting.`])
}

async function retryAll(operator: Operator): Promise<Done> {
  const { openPayouts } = await readPayoutQueue(operator.database)
  const failed = openPayouts
    .filter(({ state }) => state === 'FAILED')
    .map(({ reference }) => reference)
  if (failed.length === 0) return done(['No refund has failed.'])
  return done((await doneEach(failed, (name) => retryPayout(operator, name))).lines)
}

function retryPayout(operator: Operator, name: string): Promise<Tried> {
  const goodwillOrder = orderOfGoodwill(name)
  if (goodwillOrder !== undefined) return retryGoodwill(operator, goodwillOrder)
  return isOrderId(name) ? retryOrder(operator, name) : retryReturn(operator, name)
}

function dropPayout(operator: Operator, name: string): Promise<Tried> {
  const goodwillOrder = orderOfGoodwill(name)
  if (goodwillOrder !== undefined) return dropGoodwill(operator, goodwillOrder)
  return dropReturn(operator, name)
}

function done(lines: readonly string[]): Done {
  return { isDone: true, lines }
}

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

const yes = (line: string): Tried => ({ isDone: true, line })
const no = (line: string): Tried => ({ isDone: false, line })
const moved = no('another process changed it meanwhile; look at it again')
const noGoodwill = no('no goodwill was given for this order')
const dueAgain = yes('due again')
const dropped = yes('dropped; nothing is owed')

async function giveGoodwill(
  { database, by }: Operator,
  { order: id, ...gift }: Extract<RefundsCommand, { does: 'goodwill' }>,
): Promise<Tried> {
  const goodwill = createGoodwillStore(database)
  const order = await createOrderStore(database).find(id)
  const made = goodwillFor(order, { ...gift, by }, new Date())
  if (typeof made === 'string') return no(made)
  if (await goodwill.give(made)) {
    const { amount, payment } = made
    return yes(`gives ${formatUsdc(amount)} USDC to ${payment.payer}; the running store pays it`)
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
  const stored = await goodwill.find(id)
  if (!stored) return noGoodwill
  const { payout } = stored
  if (payout.state !== 'FAILED') return no(`it has not failed; it is ${payout.state}`)
  const due = { state: 'DUE', ...(payout.signed && { signed: payout.signed }) } as const
  const { won } = await moveAside(goodwill, stored, { ...stored, payout: due })
  return won ? dueAgain : moved
}

/** Nothing is owed: it was a gift. */
async function dropGoodwill({ database, by }: Operator, id: OrderId): Promise<Tried> {
  const goodwill = createGoodwillStore(database)
  const stored = await goodwill.find(id)
  if (!stored) return noGoodwill
  const to = droppedGoodwill(stored, by, new Date())
  if (typeof to === 'string') return no(to)
  const { won } = await moveAside(goodwill, stored, to)
  return won ? dropped : moved
}

async function retryOrder({ database }: Operator, id: OrderId): Promise<Tried> {
  const orders = createOrderStore(database)
  const order = await orders.find(id)
  const why = whyNotTried(order)
  if (why !== undefined || !order || !isRefunding(order)) return no(why ?? 'nothing is owed')
  const tried = await retryRefund(orders, order, 'operator')
  return tried.payout?.state === 'DUE' ? dueAgain : no(whyNotTried(tried) ?? 'nothing is owed')
}

async function retryReturn({ database }: Operator, reference: string): Promise<Tried> {
  const result = await failedReturn(database, reference)
  if ('line' in result) return result
  return (await result.moveTo({ state: 'DUE' })) ? dueAgain : moved
}

/** What the processor shows after all gets another return. */
async function dropReturn({ database }: Operator, reference: string): Promise<Tried> {
  const result = await failedReturn(database, reference)
  if ('line' in result) return result
  const { code, reason } = result.payout
  if (code !== paymentNotShown) return no(`it is owed; it failed with ${code}`)
  if (!(await result.moveTo({ state: 'FAILED', code: paymentVanished, reason }))) return moved
  await createPayoutRecord(database).rests(reference)
  return dropped
}

interface FailedReturn {
  readonly payout: PayoutIn<'FAILED'>
  moveTo(payout: Payout): Promise<boolean>
}

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

type Payment = Extract<RefundsCommand, { does: 'paid' }>

/** A payout in a coin is due at once: its next step finds the note. */
async function recordPaid(operator: Operator, payment: Payment): Promise<Tried> {
  const result = await notePaid(operator, payment)
  // A refund in USDC was booked together with the note, so this leaves it as it is.
  if (result.isDone) await retryPayout(operator, payment.reference)
  return result
}

async function notePaid(
  { database, by }: Operator,
  { reference, transaction, transfer = 1 }: Payment,
): Promise<Tried> {
  const notes = createHandPayouts(database)
  const before = await notes.find(reference)
  if (before === transaction) return describeResult({ outcome: 'same' }, '')
  if (before !== undefined) {
    return describeResult({ outcome: 'other_transaction', transaction: before }, '')
  }
  const made = { transaction, transfer, by }
  const order = isOrderId(reference) ? await createOrderStore(database).find(reference) : undefined
  if (order?.payment.method === 'x402') return noteRefund(database, order, made)
  const { openPayouts } = await readPayoutQueue(database)
  const payout = openPayouts.find(
    (one) => one.reference === reference && one.state === 'FAILED' && payableByHand.has(one.code),
  )?.inCoin
  if (!payout) return no('it does not wait to be paid by hand; npm run refunds tells how it stands')
  const { units, coin, to } = payout
  const line = `noted as paid: ${formatUnits(units, coin)} ${coin} to ${to}`
  return describeResult(await notes.note({ ...payout, ...made }), line)
}

/** One that its own authorization cannot pay any more, paid by a plain transfer. */
async function noteRefund(
  database: Pool,
  order: Order,
  made: Parameters<typeof bookByHand>[2],
): Promise<Tried> {
  if (!made.transaction.startsWith('0x')) return no('a transaction of USDC begins with 0x')
  const why = whyNotTried(order)
  if (why !== undefined || !isRefunding(order)) return no(why ?? 'nothing is owed')
  const live = order.payout?.state === 'FAILED' ? whyLive(order.payout, new Date()) : undefined
  if (live !== undefined) return no(live)
  const booked = await bookByHand(database, order, made)
  if (booked.outcome === 'moved') return moved
  const { amount, payment } = order
  return describeResult(booked, `booked as paid: ${formatUsdc(amount)} USDC to ${payment.payer}`)
}

function describeResult(result: Noted, line: string): Tried {
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

function statusLines(
  queue: PayoutQueue,
  caps: { readonly hour: Usdc; readonly day: Usdc },
): readonly string[] {
  const { refundSwitch, granted, returnsGranted, goodwillGranted, openPayouts } = queue
  const failed = openPayouts.filter((one) => one.state === 'FAILED' && !isByHand(one))
  const pending = openPayouts.filter(({ state }) => state !== 'FAILED')
  return [
    refundSwitch.stopped
      ? `Refunds are STOPPED since ${refundSwitch.at.toISOString()}${byAndWhy(refundSwitch)}`
      : 'Refunds go out.',
    `Refunds granted in ${againstCaps(granted, caps)}`,
    `Returns granted in ${againstCaps(returnsGranted, caps)}`,
    `Goodwill granted in ${againstCaps(goodwillGranted, caps)}`,
    '',
    ...tableOf('failed and waiting for you', failed),
    ...tableOf('under way', pending),
    ...handLines(queue),
  ]
}

type Window = Readonly<Record<'hour' | 'day', Usdc>>

function againstCaps(granted: Window, caps: Window): string {
  const of = (window: keyof Window) =>
    `the last ${window} ${formatUsdc(granted[window])} of ${formatUsdc(caps[window])} USDC`
  return `${of('hour')}, in ${of('day')}.`
}

function handLines(queue: PayoutQueue): readonly string[] {
  const byHand = queue.openPayouts.filter(isByHand)
  if (byHand.length === 0) return []
  const [sent, unsent] = [true, false].map((isSent) =>
    byHand.filter(({ code }) => (code === noteTransaction) === isSent),
  ) as [OpenPayout[], OpenPayout[]]
  return [
    '',
    ...handTable('To be paid by you', unsent),
    ...handTable('Paid by BTCPay, of which you know the transaction', sent),
    'Then say so: npm run refunds -- paid REFERENCE TRANSACTION',
  ]
}

function handTable(what: string, listed: readonly OpenPayout[]): string[] {
  if (listed.length === 0) return []
  const linesFor = (one: OpenPayout) => [
    `  ${one.reference}  since ${one.since.toISOString()}`,
    `      ${amountOf(one)}${one.inCoin ? ` on ${one.inCoin.network}` : ', from another wallet than the refund wallet'}`,
    `      to ${one.to}`,
  ]
  return [`${what}: ${listed.length}`, ...listed.flatMap(linesFor)]
}

function amountOf({ worth, inCoin }: OpenPayout): string {
  return inCoin
    ? `${formatUnits(inCoin.units, inCoin.coin)} ${inCoin.coin}`
    : `${formatUsdc(worth)} USDC`
}

function isByHand({ reference, state, code, inCoin, isNoted }: OpenPayout): boolean {
  const waits = inCoin
    ? code === operatorPays || code === noteTransaction
    : code === nonceSpent && isOrderId(reference)
  return state === 'FAILED' && waits && !isNoted
}

function byAndWhy({ by, reason }: PayoutQueue['refundSwitch']): string {
  return `${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`
}

function tableOf(what: string, listed: readonly OpenPayout[]): readonly string[] {
  const sum = listed.reduce((total, { worth }) => total + worth, 0n)
  const few = listed.length === 0 ? 'none' : `${listed.length}, ${formatUsdc(usdc(sum))} USDC`
  return [`Refunds ${what}: ${few}`, ...listed.flatMap(linesOf)]
}

function linesOf(payout: OpenPayout): string[] {
  const { reference, to, state, code, reason, since } = payout
  const amount = amountOf(payout).padStart(14)
  return [
    `  ${reference}  ${amount}  to ${to}  ${code ?? state}  since ${since.toISOString()}`,
    ...(reason === null ? [] : [`      ${reason}`]),
  ]
}

async function main(args: readonly string[]): Promise<0 | 1> {
  const command = commandOf(args)
  const { isDone, lines } = await onDatabase('refunds', (database, { refundCaps: caps }) =>
    carryOut({ database, caps, by: operatorName() }, command),
  )
  printLines(lines)
  return isDone ? 0 : 1
}

if (import.meta.main) await runCommand({ name: 'refunds', usage, main })
