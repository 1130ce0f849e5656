import type { RateTable } from '../ports.ts'
import type { Money } from './quantities.ts'
import type { Indexes } from './reading.ts'

/** The currencies of what is sold for these countries: what their people mean by a word that several share. */
export function localCurrencies(
  { voucher, topup }: Indexes,
  countries: readonly string[],
): ReadonlySet<string> {
  const all = countries.flatMap((country) =>
    [voucher, topup].flatMap((index) => index.values('currency', { country })),
  )
  return new Set(all)
}

/** The currencies that an amount is likely in: those of the named countries first, then the usual one. */
export function likelyCurrencies(
  { currencies }: Money,
  local: ReadonlySet<string>,
): readonly string[] {
  const own = currencies.filter((code) => local.has(code))
  return [...new Set([...own, ...currencies.slice(0, 1)])]
}

/** The amount in US dollars; undefined if its currency has no rate. */
export function inDollars(
  money: Money | undefined,
  local: ReadonlySet<string>,
  rates: RateTable | undefined,
): number | undefined {
  if (money === undefined || isInDollars(money)) return money?.amount
  const [currency = ''] = likelyCurrencies(money, local)
  const rate = rates?.perUsd[currency]
  return rate === undefined ? undefined : money.amount / rate
}

/** Whether it is in US dollars, as prices are, or in dollars that nothing says more about. */
export function isInDollars({ currencies }: Pick<Money, 'currencies'>): boolean {
  return currencies[0] === 'USD'
}
