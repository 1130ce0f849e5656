import type { RateTable } from '../ports.ts'
import type { Money } from './quantities.ts'

const national: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  dollars: { AU: 'AUD', CA: 'CAD', NZ: 'NZD', SG: 'SGD', HK: 'HKD' },
  pesos: { MX: 'MXN', AR: 'ARS', CL: 'CLP', CO: 'COP', PH: 'PHP', DO: 'DOP', UY: 'UYU' },
  rupees: { IN: 'INR', PK: 'PKR', LK: 'LKR', NP: 'NPR' },
  kronor: { SE: 'SEK', NO: 'NOK', DK: 'DKK', IS: 'ISK', CZ: 'CZK' },
  dirhams: { AE: 'AED', MA: 'MAD' },
  rand: { ZA: 'ZAR' },
}
const usual: Readonly<Record<string, string>> = {
  dollars: 'USD',
  pesos: 'MXN',
  rupees: 'INR',
  kronor: 'SEK',
  dirhams: 'AED',
  rand: 'ZAR',
}

/** The currencies that a word may mean. Those of the named countries come first. */
export function currenciesOf(unit: string, countries: readonly string[]): string[] {
  const own = countries.flatMap((code) => national[unit]?.[code] ?? [])
  return [...new Set([...own, usual[unit] ?? unit])]
}

/** The amount in US dollars; undefined if its currency has no rate. */
export function inDollars(
  money: Money | undefined,
  countries: readonly string[],
  rates: RateTable | undefined,
): number | undefined {
  if (money === undefined) return undefined
  const isDollars = money.unit === 'dollars' || money.unit === 'USD'
  if (isDollars) return money.amount
  const [currency = 'USD'] = currenciesOf(money.unit, countries)
  const rate = rates?.perUsd[currency]
  return rate === undefined ? undefined : money.amount / rate
}
