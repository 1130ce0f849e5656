import { parseArgs } from 'node:util'
import type { OpenRefund, RefundDesk } from '../adapters/storage/refund-desk.ts'
import { isOrderId, type OrderId } from '../primitives/ids.ts'
import { formatUsdc, type Usdc, usdc } from '../primitives/money.ts'

/** What an operator wants of refunds. */
export type RefundsCommand =
  | { readonly does: 'status' }
  | { readonly does: 'stop'; readonly reason: string }
  | { readonly does: 'start'; readonly reason: string | undefined }
  | { readonly does: 'retry'; readonly orders: 'all' | readonly OrderId[] }

export const usage = `Usage: npm run refunds -- <what>

  status                  whether refunds go out, what was granted, and every refund that is open
  stop --reason "..."     stops all refunds, on every node, at once
  start [--reason "..."]  lets them go on
  retry <orderId>...      makes refunds due again that have failed
  retry --all             all of them

It works on the database of the store that the same environment starts.`

/** The command line does not say what to do. The message says what is wrong. */
export class UsageError extends Error {}

/** @throws UsageError */
export function commandOf(args: readonly string[]): RefundsCommand {
  const words = wordsOf(args)
  refuseStrays(words)
  const { what, names, reason, all } = words
  switch (what) {
    case 'status':
      return { does: 'status' }
    case 'stop':
      if (!reason) throw new UsageError('stop needs a reason: --reason "the key may have leaked"')
      return { does: 'stop', reason }
    case 'start':
      return { does: 'start', reason }
    case 'retry':
      return { does: 'retry', orders: all ? everything(names) : ordersIn(names) }
    default:
      throw new UsageError(what === undefined ? 'Say what to do' : `"${what}" is not known`)
  }
}

interface Words {
  readonly what: string | undefined
  readonly names: readonly string[]
  readonly reason: string | undefined
  readonly all: boolean
}

/** What makes no sense here is refused, because it may have been meant otherwise. */
function refuseStrays({ what, names, reason, all }: Words): void {
  if (what === 'retry') {
    if (reason !== undefined) throw new UsageError('--reason is only for stop and start')
    return
  }
  if (all) throw new UsageError('--all is only for retry')
  if (names.length > 0) throw new UsageError(`${what} takes no order, and got ${names.join(', ')}`)
  if (what === 'status' && reason !== undefined) {
    throw new UsageError('--reason is only for stop and start')
  }
}

function wordsOf(args: readonly string[]): Words {
  const options = { reason: { type: 'string' }, all: { type: 'boolean' } } as const
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
    })
    const [what, ...names] = positionals
    return { what, names, reason: values.reason?.trim(), all: values.all === true }
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}

function everything(names: readonly string[]): 'all' {
  if (names.length > 0) throw new UsageError('retry takes order ids or --all, not both')
  return 'all'
}

function ordersIn(names: readonly string[]): readonly OrderId[] {
  if (names.length === 0) throw new UsageError('retry needs the id of an order, or --all')
  const stray = names.find((name) => !isOrderId(name))
  if (stray !== undefined) throw new UsageError(`"${stray}" is not the id of an order`)
  return [...new Set(names)].filter(isOrderId)
}

/** How it stands with refunds, for a person at a terminal. */
export function statusLines(
  { turned, granted, open }: RefundDesk,
  caps: { readonly hour: Usdc; readonly day: Usdc },
): readonly string[] {
  const failed = open.filter(({ step }) => step === 'FAILED')
  const pending = open.filter(({ step }) => step !== 'FAILED')
  return [
    turned.stopped
      ? `Refunds are STOPPED since ${turned.at.toISOString()}${byAndWhy(turned)}`
      : 'Refunds go out.',
    `Granted in the last hour ${formatUsdc(granted.hour)} of ${formatUsdc(caps.hour)} USDC, ` +
      `in the last day ${formatUsdc(granted.day)} of ${formatUsdc(caps.day)} USDC.`,
    '',
    ...tableOf('failed and waiting for you', failed),
    ...tableOf('under way', pending),
  ]
}

function byAndWhy({ by, reason }: RefundDesk['turned']): string {
  return `${by ? ` by ${by}` : ''}${reason ? `: ${reason}` : ''}`
}

function tableOf(what: string, refunds: readonly OpenRefund[]): readonly string[] {
  const sum = refunds.reduce((total, { amount }) => total + amount, 0n)
  const few = refunds.length === 0 ? 'none' : `${refunds.length}, ${formatUsdc(usdc(sum))} USDC`
  return [`Refunds ${what}: ${few}`, ...refunds.map(lineOf)]
}

function lineOf({ order, amount, payee, step, code, since }: OpenRefund): string {
  const price = `${formatUsdc(amount)} USDC`.padStart(14)
  return `  ${order}  ${price}  to ${payee}  ${code ?? step}  since ${since.toISOString()}`
}
