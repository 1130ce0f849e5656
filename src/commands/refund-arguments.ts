import { namesPayout } from '../checkouts/checkout.ts'
import { isOrderId } from '../lib/ids.ts'
import { type Usdc, usdcFromText } from '../lib/money.ts'
import type { Gift, PaidByHand } from '../operator/refunds.ts'
import { UsageError } from './act.ts'

export const usage = `Usage: kiosk402 refund WHAT

  status                  whether refunds go out, what was granted, every refund that is open, and
                          those that you have to pay by hand
  stop --reason "..."     stops all refunds, on every node, at once
  start [--reason "..."]  lets them go on
  retry REFERENCE...      makes refunds due again that have failed
  retry --all             all of them
  release REFERENCE... --reason "..."
                          pays refunds that are held because the payee is on the denylist,
                          this once; the payee stays on the list
  drop REFERENCE...       ends what failed and is not owed: returns whose payment is not
                          shown any more, and goodwill
  paid REFERENCE TRANSACTION
                          notes the transaction with which you paid it; where it pays
                          the same amount twice to one address, the second one is noted
                          with --transfer 2
  goodwill ORDER USDC --reason "..."
                          gives the buyer of delivered goods money of yours, once an order
                          and at most its price; it is no refund

A reference is the id of an order, or that of a checkout and the number of its return: chk_...-1. For
goodwill it is ord_...-goodwill.

Examples:
  kiosk402 refund status
  kiosk402 refund stop --reason "The key may have leaked."
  kiosk402 refund retry --all`

export const takes = {
  status: [],
  stop: ['reason'],
  start: ['reason'],
  retry: ['names', 'all'],
  drop: ['names'],
  release: ['names', 'reason'],
  paid: ['names', 'transfer'],
  goodwill: ['names', 'reason'],
} as const

export function everything(names: readonly string[]): 'all' {
  if (names.length > 0) throw new UsageError('retry takes references or --all, not both')
  return 'all'
}

export function requireReason(what: string, reason: string | undefined, example: string): string {
  if (reason) return reason
  throw new UsageError(`${what} needs a reason: --reason "${example}"`)
}

export function referencesIn(
  what: 'retry' | 'drop' | 'release',
  names: readonly string[],
): readonly string[] {
  if (names.length === 0) throw new UsageError(`${what} needs a reference`)
  for (const name of names) requireReference(name)
  return [...new Set(names)]
}

function requireReference(name: string): void {
  if (namesPayout(name)) return
  throw new UsageError(
    `"${name}" is not the id of an order, nor the reference of a return or of goodwill`,
  )
}

export function goodwillIn(names: readonly string[], reason = ''): Gift {
  const [order = '', text = '', ...more] = names
  if (more.length > 0 || !isOrderId(order)) {
    throw new UsageError('goodwill takes the id of an order and an amount in USDC')
  }
  if (reason.length < 3 || reason.length > 500) {
    throw new UsageError('goodwill needs a --reason of 3 to 500 characters')
  }
  return { order, amount: amountIn(text), reason }
}

function amountIn(text: string): Usdc {
  try {
    const amount = usdcFromText(text)
    if (amount > 0n) return amount
  } catch {}
  throw new UsageError(`"${text}" is not an amount in USDC; write it as 12.50`)
}

/** A transaction of any of the coins: 32 bytes in hex, with 0x on Ethereum. */
const transactionPattern = /^(0x)?[0-9a-f]{64}$/i

export function paidIn(names: readonly string[], transfer: string | undefined): PaidByHand {
  const [reference = '', transaction = '', ...more] = names
  if (transaction === '' || more.length > 0) {
    throw new UsageError('paid takes a reference and the transaction that paid it')
  }
  requireReference(reference)
  if (!transactionPattern.test(transaction)) {
    throw new UsageError(
      `"${transaction}" is not a transaction: 64 hexadecimal digits, with 0x before them on Ethereum`,
    )
  }
  if (transfer !== undefined && !/^[1-9]\d{0,2}$/.test(transfer)) {
    throw new UsageError('--transfer counts the equal transfers of a transaction, from 1')
  }
  const which = transfer === undefined ? {} : { transfer: Number(transfer) }
  return { reference, transaction: transaction.toLowerCase(), ...which }
}
