import { z } from 'zod'
import type { HandPayouts, PayoutRecord, Processor } from '../../checkouts/ports.ts'
import type { Coin } from '../../payments/coins.ts'
import type { ProcessorStatement } from '../../reconcile/ports.ts'
import { checkProcessor, type Finding } from './check.ts'
import { ask, describe, type Greenfield, segment } from './greenfield.ts'
import { endOthers, openInvoice, readInvoice } from './invoices.ts'
import type { BtcpayMethod } from './methods.ts'
import { payOut } from './payouts.ts'
import { storeRateSchema } from './schemas.ts'
import { readPaidInvoices, readPayouts } from './statement.ts'

export interface BtcpaySettings extends Greenfield {
  /** The coins that can be paid in (`readMethods`). */
  readonly methods: readonly BtcpayMethod[]
  /** How long the rate is fixed and the price can be paid. */
  readonly expirationMinutes: number
  /** How long after that BTCPay watches for late and duplicate payments. */
  readonly monitoringMinutes: number
}

export interface BtcpayDeps {
  readonly hands: HandPayouts
  readonly record: Pick<PayoutRecord, 'find' | 'keep'>
  readonly now: () => Date
}

export interface BtcpayProcessor extends Processor, ProcessorStatement {
  /** Checks whether BTCPay can do what the store needs; empty if all is well. */
  check(): Promise<readonly Finding[]>
  /** US dollars per coin. @throws when BTCPay gives no rates */
  rates(): Promise<ReadonlyMap<Coin, string>>
}

/** BTCPay Server as the processor of payments in coins, by its Greenfield API. */
export function createProcessor(settings: BtcpaySettings, deps: BtcpayDeps): BtcpayProcessor {
  const { methods } = settings
  const invoices = { ...settings, greenfield: settings, now: deps.now }
  const payouts = { greenfield: settings, methods, ...deps }
  let sent: readonly Coin[] = []
  return {
    methods: methods.map(({ coin, network }) => ({ coin, network })),
    sends: (coin) => sent.includes(coin),
    open: (wanted) => openInvoice(invoices, wanted),
    endOthers: (checkout, shown) => endOthers(settings, checkout, shown),
    read: (invoice, coin) => readInvoice(invoices, invoice, coin),
    payOut: (payout) => payOut(payouts, payout),
    payouts: (isNamed) => readPayouts(settings, isNamed),
    paidInvoices: (isNamed) => readPaidInvoices(settings, isNamed),
    async check() {
      const looked = await checkProcessor(settings, methods)
      // If it gives no answer, its last one counts.
      sent = looked.sent ?? sent
      return looked.findings
    },
    rates: () => readRates(settings, methods),
  }
}

/**
 * US dollars per coin at BTCPay's current rates. They only show the buyer a price before there is an invoice,
 * whose own rate counts. A coin whose rate BTCPay does not know is missing.
 *
 * @throws when BTCPay gives no rates
 */
async function readRates(
  greenfield: Greenfield,
  methods: readonly BtcpayMethod[],
): Promise<ReadonlyMap<Coin, string>> {
  const pairs = methods.map(({ coin }) => `currencyPair=${coin}_USD`).join('&')
  const path = `/stores/${segment(greenfield.storeId)}/rates?${pairs}`
  const response = await ask(greenfield, z.array(storeRateSchema), { method: 'GET', path })
  if (response.outcome === 'unknown') throw new Error(response.reason)
  if (response.outcome === 'refused')
    throw new Error(`BTCPay gives no rates: ${describe(response)}`)
  const known = response.value.flatMap(({ currencyPair, rate }) => {
    const coin = methods.find((method) => `${method.coin}_USD` === currencyPair)?.coin
    return coin === undefined || !rate ? [] : [[coin, rate] as const]
  })
  return new Map(known)
}
