import type { OpenRefund, RefundQueue } from '../adapters/storage/refund-queue.ts'
import type { Payout } from '../checkouts/ports.ts'
import { formatUsdc, type Usdc, usdc } from '../lib/money.ts'
import { formatUnits } from '../payments/coins.ts'
import { nonceSpent, noteTransaction, operatorPays } from '../payments/pay-back-faults.ts'

/** Something that goes back to a buyer: the refund of an order, or a return of a checkout. */
interface Listed {
  readonly name: string
  readonly worth: Usdc
  readonly payout: Payout | undefined
  readonly payee: string
  readonly step: string
  readonly code: string | null
  readonly reason: string | null
  readonly isNoted: boolean
  readonly since: Date
}

/** How it stands with refunds, for a person at a terminal. */
export function statusLines(
  queue: RefundQueue,
  caps: { readonly hour: Usdc; readonly day: Usdc },
): readonly string[] {
  const { turned, granted, returned } = queue
  const listed = listedIn(queue)
  const failed = listed.filter((one) => one.step === 'FAILED' && !isByHand(one))
  const pending = listed.filter(({ step }) => step !== 'FAILED')
  return [
    turned.stopped
      ? `Refunds are STOPPED since ${turned.at.toISOString()}${byAndWhy(turned)}`
      : 'Refunds go out.',
    `Refunds granted in ${againstCaps(granted, caps)}`,
    `Returns granted in ${againstCaps(returned, caps)}`,
    '',
    ...tableOf('failed and waiting for you', failed),
    ...tableOf('under way', pending),
    ...(listed.some(isByHand) ? ['', ...handLines(queue)] : []),
  ]
}

type Window = Readonly<Record<'hour' | 'day', Usdc>>

function againstCaps(granted: Window, caps: Window): string {
  const of = (window: keyof Window) =>
    `the last ${window} ${formatUsdc(granted[window])} of ${formatUsdc(caps[window])} USDC`
  return `${of('hour')}, in ${of('day')}.`
}

/** What an operator pays by hand: each with the amount as a wallet takes it, and the address. */
export function handLines(queue: RefundQueue): readonly string[] {
  const byHand = listedIn(queue).filter(isByHand)
  if (byHand.length === 0) return ['Nothing is to be paid by hand.']
  const [sent, unsent] = [true, false].map((isSent) =>
    byHand.filter(({ code }) => (code === noteTransaction) === isSent),
  ) as [Listed[], Listed[]]
  return [
    ...handTable('To be paid by you', unsent),
    ...handTable('Paid by BTCPay, of which you know the transaction', sent),
    'Then say so: npm run refunds -- paid REFERENCE TRANSACTION',
  ]
}

function handTable(what: string, listed: readonly Listed[]): string[] {
  if (listed.length === 0) return []
  const linesFor = ({ name, worth, payout, payee, since }: Listed) => [
    `  ${name}  since ${since.toISOString()}`,
    payout
      ? `      ${formatUnits(payout.units, payout.coin)} ${payout.coin} on ${payout.network}`
      : `      ${formatUsdc(worth)} USDC, from another wallet than the refund wallet`,
    `      to ${payee}`,
  ]
  return [`${what}: ${listed.length}`, ...listed.flatMap(linesFor)]
}

function isByHand({ step, code, payout, isNoted }: Listed): boolean {
  const waits = payout ? code === operatorPays || code === noteTransaction : code === nonceSpent
  return step === 'FAILED' && waits && !isNoted
}

/** All that is not paid, of orders and of checkouts, the oldest first. */
function listedIn({ open, returns }: RefundQueue): readonly Listed[] {
  const ofOrders = open.map(listedRefund)
  const ofCheckouts = returns.map((one) => ({
    ...one,
    name: one.reference,
    payout: one,
    payee: one.to,
  }))
  return [...ofOrders, ...ofCheckouts].sort(
    (one, other) => one.since.getTime() - other.since.getTime(),
  )
}

function listedRefund({ order, amount, payout, payee, ...rest }: OpenRefund): Listed {
  return { ...rest, name: order, worth: amount, payout, payee: payout?.to ?? payee }
}

function byAndWhy({ by, reason }: RefundQueue['turned']): string {
  return `${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`
}

function tableOf(what: string, listed: readonly Listed[]): readonly string[] {
  const sum = listed.reduce((total, { worth }) => total + worth, 0n)
  const few = listed.length === 0 ? 'none' : `${listed.length}, ${formatUsdc(usdc(sum))} USDC`
  return [`Refunds ${what}: ${few}`, ...listed.flatMap(linesOf)]
}

function linesOf({ name, worth, payout, payee, step, code, reason, since }: Listed): string[] {
  const amount = payout
    ? `${formatUnits(payout.units, payout.coin)} ${payout.coin}`
    : `${formatUsdc(worth)} USDC`
  return [
    `  ${name}  ${amount.padStart(14)}  to ${payee}  ${code ?? step}  since ${since.toISOString()}`,
    ...(reason === null ? [] : [`      ${reason}`]),
  ]
}
