import type { Pool } from 'pg'
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
  type PayoutQueue,
  type RefundCaps,
  readPayoutQueue,
  switchRefunds,
} from '../adapters/storage/payouts.ts'
import { isInvoiced, isVoid, returnOfReference, withReturn } from '../checkouts/checkout.ts'
import type { CoinPayout } from '../checkouts/ports.ts'
import { readConfig } from '../config.ts'
import { ownEnvironment } from '../environment/secret-files.ts'
import { isOrderId, type OrderId } from '../lib/ids.ts'
import { formatUsdc, type Usdc, usdc } from '../lib/money.ts'
import { never } from '../lib/never.ts'
import { droppedGoodwill, goodwillFor, orderOfGoodwill } from '../orders/goodwill.ts'
import { isRefunding, type Order } from '../orders/order.ts'
import type { Payout, PayoutIn } from '../orders/payout.ts'
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
} from '../payments/pay-back-faults.ts'
import { operatorName, runCommand } from './command-line.ts'
import { commandOf, type RefundsCommand, usage } from './refunds-arguments.ts'
import { openDatabaseFor } from './store-database.ts'

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

/** The result of noting a payment. */
interface NotedInWords {
  /** The payout is on record as paid with this transaction, and can be made due again. */
  readonly isNoted: boolean
  readonly line: string
}

/** Notes the transaction with which an operator made this payout, if it waits for an operator. */
async function notePaid(
  database: Pool,
  {
    reference,
    transaction,
    transfer = 1,
    by,
  }: Record<'reference' | 'transaction' | 'by', string> & { readonly transfer?: number },
): Promise<NotedInWords> {
  const notes = createHandPayouts(database)
  const before = await notes.find(reference)
  if (before !== undefined) {
    return inWords(
      before === transaction
        ? { outcome: 'same' }
        : { outcome: 'other_transaction', transaction: before },
    )
  }
  const order = isOrderId(reference) ? await createOrderStore(database).find(reference) : undefined
  if (order?.tender.rail === 'x402')
    return noteRefund(database, order, { transaction, transfer, by })
  const payout = await waitingPayout(database, reference)
  if (!payout) {
    const line = 'it does not wait to be paid by hand; npm run refunds tells how it stands'
    return { isNoted: false, line }
  }
  return inWords(await notes.note({ ...payout, transaction, transfer, by }), payout)
}

/** Books a refund in USDC that cannot be paid by its own authorization and was paid by a plain transfer. */
async function noteRefund(
  database: Pool,
  order: Order,
  made: Parameters<typeof bookByHand>[2],
): Promise<NotedInWords> {
  const not = (line: string) => ({ isNoted: false, line })
  if (!made.transaction.startsWith('0x')) return not('a transaction of USDC begins with 0x')
  const why = whyNotTried(order)
  if (why !== undefined || !isRefunding(order)) return not(why ?? 'nothing is owed')
  const booked = await bookByHand(database, order, made)
  if (booked.outcome === 'moved')
    return not('another process changed it meanwhile; look at it again')
  const { isNoted, line } = inWords(booked)
  const paid = `${formatUsdc(order.amount)} USDC to ${order.tender.payer}`
  return { isNoted, line: booked.outcome === 'noted' ? `booked as paid: ${paid}` : line }
}

async function waitingPayout(
  database: Database,
  reference: string,
): Promise<CoinPayout | undefined> {
  const { open } = await readPayoutQueue(database)
  return open.find(
    (one) => one.reference === reference && one.state === 'FAILED' && payableByHand.has(one.code),
  )?.inCoin
}

function inWords(noted: Noted, payout?: CoinPayout): NotedInWords {
  switch (noted.outcome) {
    case 'noted':
      return {
        isNoted: true,
        line: payout
          ? `noted as paid: ${formatUnits(payout.units, payout.coin)} ${payout.coin} to ${payout.to}`
          : 'noted as paid',
      }
    case 'same':
      return { isNoted: true, line: 'was noted before, with this transaction' }
    case 'other_transaction':
      return {
        isNoted: false,
        line: `was noted before, with another transaction: ${noted.transaction}`,
      }
    case 'other_payout':
      return {
        isNoted: false,
        line:
          `this transaction was noted for ${noted.reference}, of the same amount and address; ` +
          'if it has another transfer like that, say so with --transfer 2',
      }
    default:
      return never(noted)
  }
}

/** The state of refunds, for a person at a terminal. */
export function statusLines(
  queue: PayoutQueue,
  caps: { readonly hour: Usdc; readonly day: Usdc },
): readonly string[] {
  const { turned, granted, returned, given, open } = queue
  const failed = open.filter((one) => one.state === 'FAILED' && !isByHand(one))
  const pending = open.filter(({ state }) => state !== 'FAILED')
  return [
    turned.stopped
      ? `Refunds are STOPPED since ${turned.at.toISOString()}${byAndWhy(turned)}`
      : 'Refunds go out.',
    `Refunds granted in ${againstCaps(granted, caps)}`,
    `Returns granted in ${againstCaps(returned, caps)}`,
    `Goodwill granted in ${againstCaps(given, caps)}`,
    '',
    ...tableOf('failed and waiting for you', failed),
    ...tableOf('under way', pending),
    ...(open.some(isByHand) ? ['', ...handLines(queue)] : []),
  ]
}

type Window = Readonly<Record<'hour' | 'day', Usdc>>

function againstCaps(granted: Window, caps: Window): string {
  const of = (window: keyof Window) =>
    `the last ${window} ${formatUsdc(granted[window])} of ${formatUsdc(caps[window])} USDC`
  return `${of('hour')}, in ${of('day')}.`
}

/** What an operator pays by hand: each with its address, and the amount as wallets accept it. */
export function handLines(queue: PayoutQueue): readonly string[] {
  const byHand = queue.open.filter(isByHand)
  if (byHand.length === 0) return ['Nothing is to be paid by hand.']
  const [sent, unsent] = [true, false].map((isSent) =>
    byHand.filter(({ code }) => (code === noteTransaction) === isSent),
  ) as [OpenPayout[], OpenPayout[]]
  return [
    ...handTable('To be paid by you', unsent),
    ...handTable('Paid by BTCPay, of which you know the transaction', sent),
    'Then say so: npm run refunds -- paid REFERENCE TRANSACTION',
  ]
}

function handTable(what: string, listed: readonly OpenPayout[]): string[] {
  if (listed.length === 0) return []
  const linesFor = ({ reference, worth, inCoin, to, since }: OpenPayout) => [
    `  ${reference}  since ${since.toISOString()}`,
    inCoin
      ? `      ${formatUnits(inCoin.units, inCoin.coin)} ${inCoin.coin} on ${inCoin.network}`
      : `      ${formatUsdc(worth)} USDC, from another wallet than the refund wallet`,
    `      to ${to}`,
  ]
  return [`${what}: ${listed.length}`, ...listed.flatMap(linesFor)]
}

function isByHand({ reference, state, code, inCoin, isNoted }: OpenPayout): boolean {
  const waits = inCoin
    ? code === operatorPays || code === noteTransaction
    : code === nonceSpent && isOrderId(reference)
  return state === 'FAILED' && waits && !isNoted
}

function byAndWhy({ by, reason }: PayoutQueue['turned']): string {
  return `${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`
}

function tableOf(what: string, listed: readonly OpenPayout[]): readonly string[] {
  const sum = listed.reduce((total, { worth }) => total + worth, 0n)
  const few = listed.length === 0 ? 'none' : `${listed.length}, ${formatUsdc(usdc(sum))} USDC`
  return [`Refunds ${what}: ${few}`, ...listed.flatMap(linesOf)]
}

function linesOf(open: OpenPayout): string[] {
  const { reference, worth, inCoin, to, state, code, reason, since } = open
  const amount = inCoin
    ? `${formatUnits(inCoin.units, inCoin.coin)} ${inCoin.coin}`
    : `${formatUsdc(worth)} USDC`
  return [
    `  ${reference}  ${amount.padStart(14)}  to ${to}  ${code ?? state}  since ${since.toISOString()}`,
    ...(reason === null ? [] : [`      ${reason}`]),
  ]
}

async function main(args: readonly string[]): Promise<0 | 1> {
  const command = commandOf(args)
  const config = readConfig(ownEnvironment(console.warn))
  const database = await openDatabaseFor(config, 'refunds')
  try {
    const operator = { database, caps: config.refundCaps, by: operatorName() }
    const { isDone, lines } = await carryOut(operator, command)
    console.log(lines.join('\n'))
    return isDone ? 0 : 1
  } finally {
    await database.end()
  }
}

if (import.meta.main) await runCommand({ name: 'refunds', usage, main })
