import type { OpenPayout, PayoutQueue } from '../adapters/storage/payouts.ts'
import { isOrderId } from '../lib/ids.ts'
import { formatUsdc, type Usdc, usdc } from '../lib/money.ts'
import { formatUnits } from '../payments/coins.ts'
import { nonceSpent, noteTransaction, operatorPays } from '../payments/pay-back-faults.ts'

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
