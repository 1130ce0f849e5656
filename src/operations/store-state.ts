import type { CheckoutFacts } from '../checkouts/ports.ts'
import type { Bound, Gas, Parts, Tally } from '../health/verdict.ts'
import { usdcDecimals } from '../lib/money.ts'
import type { OrderFacts } from '../orders/ports.ts'
import type { ChainFacts } from '../payments/payment.ts'
import { type SupplierWallet, transfersAhead } from './float-monitor.ts'
import type { LastRuns, Pace } from './ports.ts'

/** All that metrics and conditions are made of. What cannot be read at the moment is undefined. */
export interface StoreState {
  readonly now: Date
  readonly parts: Parts
  readonly bounds: readonly Bound[]
  readonly gas: Gas | undefined
  readonly takesPurchases: boolean
  readonly orders: OrderFacts | undefined
  readonly checkouts: CheckoutFacts | undefined
  readonly webhookEvents: number | undefined
  readonly pace: Pace | undefined
  readonly runs: LastRuns | undefined
  readonly chain: ChainFacts | undefined
  readonly suppliers: ReadonlyMap<
    string,
    { readonly isUp: boolean; readonly calls: Tally; readonly wallet: SupplierWallet | undefined }
  >
  readonly nodes: {
    readonly processes: readonly { readonly node: string; readonly version: string }[]
    readonly disagreements: readonly { readonly node: string; readonly setting: string }[]
  }
  readonly catalog: {
    readonly readAt: Date | undefined
    readonly onSale: number
    readonly rejected: Readonly<Record<string, number>>
  }
  readonly ratesAsOf: Date | undefined
  /** Offers of which a sale of the last day earned less than the least margin. */
  readonly belowMargin: number | undefined
}

type HoursLeft = readonly (readonly [wallet: string, supplier: string, hours: number])[]

/**
 * For how long each wallet lasts at the pace of the last week: beyond the open refunds, beyond what the store needs to
 * sell on, and in the currency of the prices. Without sales a wallet lasts for ever, and is left out.
 */
export function hoursLeft({
  pace,
  orders,
  chain,
  gas,
  suppliers,
}: StoreState): HoursLeft | undefined {
  if (!pace) return undefined
  const float = chain && orders && Number(chain.refundFloat - orders.exposure)
  // The need covers this many transfers and the open refunds.
  const transfers =
    gas && (Number(gas.balance - gas.need) * Number(transfersAhead)) / Number(gas.need)
  const all: readonly (readonly [string, string, number | undefined, number])[] = [
    ['refund_float', '', float, pace.refunds],
    ['gas', '', transfers, pace.transfers],
    ...Array.from(suppliers, ([name, { wallet }]) => {
      const left = wallet?.currency === 'USD' ? wallet.available * 10 ** usdcDecimals : undefined
      return ['supplier', name, left, pace.suppliers.get(name) ?? 0] as const
    }),
  ]
  return all.flatMap(([wallet, supplier, left, hourly]) =>
    left === undefined || hourly <= 0
      ? []
      : [[wallet, supplier, Math.max(0, left) / hourly] as const],
  )
}
