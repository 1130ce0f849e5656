import { parseDecimal, unitsFor, worthDecimals, worthOf } from './amounts.ts'
import { coins } from './coins.ts'
import type { Invoice, Payment, Prompt } from './models.ts'

/** The totals of an invoice, in its own currency. */
export interface Totals {
  readonly price: bigint
  readonly paid: bigint
  readonly confirmed: bigint
  /** Negative when it is overpaid by more than rounding can explain. */
  readonly due: bigint
  /** The least amount that counts as paid. */
  readonly least: bigint
}

/** The totals of one payment method, in the smallest units of its coin. */
export interface PromptTotals {
  readonly amount: bigint
  readonly totalPaid: bigint
  readonly paidHere: bigint
  /** Negative when it is overpaid. */
  readonly due: bigint
}

export function totalsOf(invoice: Invoice): Totals {
  const price = priceOf(invoice)
  const paid = worthOfAll(invoice, invoice.payments)
  const isExact = invoice.prompts.some((prompt) => dueIn(prompt, price - paid) === 0n)
  return {
    price,
    paid,
    confirmed: worthOfAll(
      invoice,
      invoice.payments.filter(({ status }) => status === 'Settled'),
    ),
    due: paid > price && isExact ? 0n : price - paid,
    least: (price * BigInt(10_000 - Math.round(invoice.tolerance * 100))) / 10_000n,
  }
}

export function promptTotals(invoice: Invoice, prompt: Prompt): PromptTotals {
  const { price, paid } = totalsOf(invoice)
  const here = invoice.payments.filter(({ coin }) => coin === prompt.coin)
  const paidHere = here.reduce((sum, { units }) => sum + BigInt(units), 0n)
  const elsewhere = paid - worthOfAll(invoice, here)
  return {
    amount: dueIn(prompt, price),
    paidHere,
    totalPaid: paidHere + dueIn(prompt, elsewhere),
    due: dueIn(prompt, price - paid),
  }
}

function dueIn({ coin, rate }: Prompt, worth: bigint): bigint {
  return unitsFor(worth, coins[coin].decimals, rate)
}

function priceOf({ amount }: Invoice): bigint {
  return parseDecimal(amount, worthDecimals) ?? 0n
}

function worthOfAll({ prompts }: Invoice, payments: readonly Payment[]): bigint {
  return payments.reduce((sum, { coin, units }) => {
    const rate = prompts.find((prompt) => prompt.coin === coin)?.rate
    if (rate === undefined) throw new Error(`The invoice has no ${coin}.`)
    return sum + worthOf(BigInt(units), coins[coin].decimals, rate)
  }, 0n)
}
