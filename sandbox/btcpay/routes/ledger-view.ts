import { formatDecimal } from '../amounts.ts'
import { coins, symbols } from '../coins.ts'
import { hashOf } from '../ids.ts'
import type { Ledger } from '../ledger.ts'
import type { ChainTransaction } from '../models.ts'

/**
 * The books of each chain, in coins. They must balance: `float` plus everything received, less everything sent and its
 * fees, is the `balance`, which is stored separately.
 */
export function ledgerView(ledger: Ledger) {
  const all = ledger.all('transaction')
  return Object.fromEntries(
    symbols.map((symbol) => {
      const { decimals, float } = coins[symbol]
      const write = (units: bigint) => formatDecimal(units, decimals)
      const here = all.filter(({ coin }) => coin === symbol)
      const view = ({ address, at, subject, units, fee, ...transfer }: ChainTransaction) => ({
        id: hashOf(transfer),
        amount: write(BigInt(units)),
        fee: write(BigInt(fee)),
        address,
        at: new Date(at).toISOString(),
        subject,
      })
      const book = {
        float: write(float),
        balance: write(ledger.balance(symbol)),
        incoming: here.filter(({ direction }) => direction === 'in').map(view),
        outgoing: here.filter(({ direction }) => direction === 'out').map(view),
      }
      return [symbol, book]
    }),
  )
}
