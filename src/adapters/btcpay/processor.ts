import type { HandPayouts, PayoutRecord, Processor } from '../../checkouts/ports.ts'
import type { Coin } from '../../payments/coins.ts'
import type { ProcessorStatement } from '../../reconcile/ports.ts'
import { checkProcessor, type Finding } from './check.ts'
import type { Greenfield } from './greenfield.ts'
import { endOthers, openInvoice, readInvoice } from './invoices.ts'
import type { BtcpayMethod } from './methods.ts'
import { payOut } from './payouts.ts'
import { readRates } from './rates.ts'
import { readPaidInvoices, readPayouts } from './statement.ts'

export interface BtcpaySettings extends Greenfield {
  /** What can be paid in (`readMethods`). */
  readonly methods: readonly BtcpayMethod[]
  /** For how long the rate stands, and the price can be paid. */
  readonly expirationMinutes: number
  /** For how long after that BTCPay looks for money that comes late or twice. */
  readonly monitoringMinutes: number
}

export interface BtcpayDeps {
  readonly hands: HandPayouts
  readonly record: Pick<PayoutRecord, 'find' | 'keep'>
  readonly now: () => Date
}

export interface BtcpayProcessor extends Processor, ProcessorStatement {
  /** What keeps BTCPay from doing what will be asked of it; nothing when all is well. */
  check(): Promise<readonly Finding[]>
  /** US dollars for one of each coin. @throws when BTCPay does not say */
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
      // Where it does not say, what it said last is believed.
      sent = looked.sent ?? sent
      return looked.findings
    },
    rates: () => readRates(settings, methods),
  }
}
