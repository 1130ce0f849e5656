import { z } from 'zod'

/**
 * The units of each currency for one US dollar by which the supplier makes its prices: a fixed, plausible table, which
 * is not published.
 */
const perUsd = tableOf(
  'AED:3.6725 AFN:70.1 ALL:84.2 AMD:383.5 AOA:917 ARS:1410 AUD:1.53 AWG:1.79 AZN:1.7 BAM:1.68 ' +
    'BBD:2 BDT:121.8 BHD:0.376 BIF:2960 BMD:1 BND:1.29 BOB:6.91 BRL:5.36 BSD:1 BTN:88.4 BWP:13.4 ' +
    'BYN:3.28 BZD:2 CAD:1.39 CDF:2480 CHF:0.8 CLP:948 CNY:7.12 COP:3890 CRC:503 CUP:24 CVE:94.8 ' +
    'CZK:20.9 DJF:177.7 DKK:6.42 DOP:62.9 DZD:130 EGP:47.6 ERN:15 ETB:145 EUR:0.86 FJD:2.27 ' +
    'GBP:0.75 GEL:2.71 GHS:11.4 GIP:0.75 GMD:72.5 GNF:8690 GTQ:7.66 GYD:209 HKD:7.78 HNL:26.2 ' +
    'HTG:131 HUF:335 IDR:16600 ILS:3.27 INR:88.4 IQD:1310 IRR:42100 ISK:124 JMD:160 JOD:0.709 ' +
    'JPY:152 KES:129.2 KGS:87.4 KHR:4020 KMF:422 KRW:1430 KWD:0.307 KYD:0.82 KZT:524 LAK:21700 ' +
    'LBP:89500 LKR:304 LRD:183 LSL:17.3 LYD:5.45 MAD:9.22 MDL:16.9 MGA:4490 MKD:52.8 MMK:2099 ' +
    'MNT:3590 MOP:8.01 MRU:39.7 MUR:45.4 MVR:15.4 MWK:1734 MXN:18.4 MYR:4.2 MZN:63.9 NAD:17.3 ' +
    'NGN:1450 NIO:36.8 NOK:10.1 NPR:141 NZD:1.74 OMR:0.3845 PEN:3.38 PGK:4.22 PHP:58.7 PKR:281 ' +
    'PLN:3.65 PYG:7060 QAR:3.64 RON:4.37 RSD:101 RUB:80.5 RWF:1452 SAR:3.75 SBD:8.23 SCR:14.2 ' +
    'SDG:600 SEK:9.43 SGD:1.3 SLE:23.2 SOS:571 SRD:38.6 SSP:4650 STN:21.1 SYP:11000 SZL:17.3 ' +
    'THB:32.5 TJS:9.27 TMT:3.5 TND:2.93 TOP:2.4 TRY:42 TTD:6.78 TWD:30.8 TZS:2460 UAH:41.9 UGX:3490 ' +
    'USD:1 UYU:39.8 UZS:12050 VES:220 VND:26300 VUV:122 WST:2.78 XAF:564 XCD:2.7 XCG:1.79 XOF:564 ' +
    'XPF:103 YER:239 ZAR:17.3 ZMW:22.6',
)

/** The units of `currency` for one US dollar. @throws Error for a currency without a rate, a mistake in the catalog */
export function rateOf(currency: string): number {
  const rate = perUsd[currency]
  if (rate === undefined) throw new Error(`The table has no rate for ${currency}.`)
  return rate
}

/**
 * Reference rates, for the same currencies as those of the ECB. They are of another day than the supplier's rates, so
 * prices do not convert evenly.
 */
const published = tableOf(
  'AUD:1.541 BRL:5.312 CAD:1.404 CHF:0.8061 CNY:7.108 CZK:20.77 DKK:6.451 EUR:0.8638 GBP:0.7612 ' +
    'HKD:7.781 HUF:331.4 IDR:16712 ILS:3.241 INR:88.92 ISK:126.3 JPY:154.9 KRW:1461 MXN:18.51 ' +
    'MYR:4.139 NOK:10.14 NZD:1.772 PHP:58.86 PLN:3.671 RON:4.393 SEK:9.512 SGD:1.303 THB:32.41 ' +
    'TRY:42.31 ZAR:17.22',
)

function tableOf(text: string): Readonly<Record<string, number>> {
  const entries = text.split(' ').map((entry) => entry.split(':'))
  return Object.fromEntries(entries.map(([currency, units]) => [currency, Number(units)]))
}

const query = z.object({ base: z.string().default('USD'), symbols: z.string().optional() })

/**
 * The answer of Frankfurter's `GET /v1/latest`: `rates` are units of each currency for one `base`, dated today (UTC).
 * Undefined (404 there) for an unknown base, or if all symbols are unknown.
 */
export function latestRates(rawQuery: unknown, now: Date) {
  const { base, symbols } = query.parse(rawQuery)
  const table: Readonly<Record<string, number>> = { ...published, USD: 1 }
  const divisor = table[base]
  const wanted = symbols?.split(',').filter((symbol) => symbol in table) ?? Object.keys(table)
  if (divisor === undefined || wanted.length === 0) return undefined
  const rates = wanted
    .filter((symbol) => symbol !== base)
    .map((symbol) => [symbol, Number(((table[symbol] as number) / divisor).toPrecision(6))])
  return { amount: 1, base, date: now.toISOString().slice(0, 10), rates: Object.fromEntries(rates) }
}
