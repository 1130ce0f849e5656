import { checkoutAccounts } from '../checkouts/checkout.ts'
import { formatUsdc, usdc } from '../lib/money.ts'
import { type Coin, coins, formatUnits } from '../payments/coins.ts'
import { type About, type Difference, differences, type Open } from './differences.ts'
import type { Rebuilt } from './rebuild.ts'
import type { EarlierWallet, Report } from './sources.ts'

export function reportLines(report: Report): readonly string[] {
  const { from, to, totals, differences: differenceList, open } = report
  const { ledger, chain, supplier, invoices } = totals
  const { foreign } = supplier
  return [
    `Blocks ${from} to ${to}, ${formatCount(totals.orders, 'order')} on record. Amounts in USDC.`,
    '',
    row('', 'received', 'delivered', 'refunded', 'open'),
    ledgerRow('ledger', ledger),
    row('chain', amount(chain.received), '', amount(chain.refunded), ''),
    ...(invoices.received > 0n ? [ledgerRow('in coins', invoices)] : []),
    `  supplier  ${supplier.delivered} delivered, ${supplier.returned} returned, ` +
      `${supplier.pending} pending, ${supplier.failed} failed`,
    ...goodwillLines(totals),
    ...(chain.unmatched > 0n ? [`  ${amount(chain.unmatched)} came without an order`] : []),
    ...(foreign > 0
      ? [`  ${formatCount(foreign, 'purchase')} at the supplier not made by a store`]
      : []),
    '',
    ...coinLines(totals),
    ...(open.length > 0 ? [`Still under way: ${open.length}`, ...open.map(openLine), ''] : []),
    differenceList.length === 0
      ? nothingDiffers(report)
      : `${formatCount(differenceList.length, 'difference')}:`,
    ...differenceList.flatMap(differenceLines),
    ...movementLines(report),
    ...report.earlier.map(earlierLine),
    ...report.notChecked.map((what) => `Not checked: ${what}.`),
    ...report.silent.map((what) => `No answer: ${what}.`),
  ]
}

function goodwillLines({ goodwill: { booked, onChain } }: Report['totals']): string[] {
  if (booked === 0n && onChain === 0n) return []
  return [`  goodwill  ${amount(booked)} in the ledger, ${amount(onChain)} on the chain`]
}

function movementLines({ movements }: Report): string[] {
  const acknowledged = movements.flatMap((one) =>
    one.acknowledged
      ? [`${movementLine(one)}: ${one.acknowledged.reason} (${one.acknowledged.by})`]
      : [],
  )
  const within = movements.filter((one) => one.isWithin && !one.acknowledged).map(movementLine)
  return [
    ...(acknowledged.length > 0
      ? [`${formatCount(acknowledged.length, 'movement')} acknowledged:`, ...acknowledged]
      : []),
    ...(within.length > 0
      ? [
          `${formatCount(within.length, 'movement')} from one wallet of the store to another:`,
          ...within,
        ]
      : []),
  ]
}

function movementLine({ transfer }: Report['movements'][number]): string {
  return `  ${transfer.transaction}  ${amount(transfer.amount)} to ${transfer.to}`
}

function earlierLine({ role, address, holds }: EarlierWallet): string {
  const was = role === 'pay_to' ? 'Earlier PAY_TO' : 'Earlier refund wallet'
  return `${was} ${address} is still compared, and holds ${amount(holds)}.`
}

function nothingDiffers({ silent }: Report): string {
  return silent.length === 0 ? 'Nothing differs.' : 'Nothing differs in what was told.'
}

function coinLines({ checkouts, coins: sums }: Report['totals']): string[] {
  if (checkouts === 0) return []
  const linesOf = (coin: Coin) => {
    const sum = sums[coin]
    if (!sum) return []
    const parts = checkoutAccounts.map((account) => {
      const units = sum[account] < 0n ? -sum[account] : sum[account]
      return `${account} ${formatUnits(units, coin)}`
    })
    return [`  ${coin.padEnd(5)} ${parts.join(', ')}`]
  }
  return [`${formatCount(checkouts, 'checkout')} on record.`, ...coins.flatMap(linesOf), '']
}

export function rebuiltLines(rebuilt: readonly Rebuilt[]): readonly string[] {
  if (rebuilt.length === 0) return ['Nothing to rebuild.']
  const lines = rebuilt.map((one) => {
    return `  ${one.order}  ${one.became === 'left' ? `left: ${one.reason}` : words[one.became]}`
  })
  return ['Rebuilt:', ...lines]
}

const words = {
  refunded: 'refunded, as the chain has it',
  delivered: 'delivered, as the supplier has it; its buyer gets the goods by signing in',
  refund_due: 'was never delivered; the running store pays it back',
} as const

/** The report for programs; its amounts are atomic USDC. */
export function published({ lost: _, unbooked: __, misnamed: ___, ...report }: Report) {
  return report
}

function differenceLines(difference: Difference): string[] {
  const { what, act } = differences[difference.code]
  return [
    `  ${difference.code}  ${subjectOf(difference)}`,
    `      ${what}`,
    ...factLines(difference),
    `      ${act}`,
  ]
}

function factLines({ transaction, order, onRecord, found, detail }: Difference): string[] {
  const facts = [
    ...(transaction && order ? [`transaction ${transaction}`] : []),
    ...(onRecord === undefined ? [] : [`on record ${amount(onRecord)}`]),
    ...(found === undefined ? [] : [`found ${amount(found)}`]),
    ...(detail === undefined ? [] : [detail]),
  ]
  return facts.length === 0 ? [] : [`      ${facts.join(', ')}`]
}

function openLine(one: Open): string {
  const waits = { safe_block: 'a safe block', store: 'the store', supplier: 'the supplier' }
  return `  ${subjectOf(one)}  waits for ${waits[one.waitsFor]}`
}

function subjectOf({ order, transaction, reference }: About): string {
  return order ?? transaction ?? reference ?? ''
}

function row(name: string, ...cells: readonly string[]): string {
  return `  ${name.padEnd(8)}${cells.map((cell) => cell.padStart(16)).join('')}`
}

function ledgerRow(name: string, sums: Report['totals']['ledger']): string {
  const { received, delivered, refunded, open } = sums
  return row(name, ...[received, delivered, refunded, open].map(amount))
}

/** In the ledger what was received is positive and where it is negative. */
function amount(atomic: bigint): string {
  return formatUsdc(usdc(atomic < 0n ? -atomic : atomic))
}

function formatCount(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
