import type { FaceValue } from '../../catalog/face-value.ts'
import type { MoneyRange } from '../../catalog/offer.ts'
import type { Retail } from '../../catalog/pricing.ts'
import { type Cents, formatUsdc, usdcFromCents } from '../../lib/money.ts'
import type { Texts } from '../texts/en.ts'

/** What a buyer pays, for reading. Amounts are plain numbers: "25.00". */
export type PriceTexts =
  | { readonly type: 'FIXED'; readonly usdc: string; readonly usd: string }
  | {
      readonly type: 'RANGE'
      /** What the least and the greatest value cost. */
      readonly minUsdc: string
      readonly maxUsdc: string
      readonly minUsd: string
      readonly maxUsd: string
      /** What the buyer may choose: "$5", "$100", in steps of "$1". */
      readonly minValue: string
      readonly maxValue: string
      readonly step: string
    }
  | { readonly type: 'NOT_SOLD'; readonly reason: string }

/** The price as pages show it. USDC counts as dollars, so both are the same amount. */
export function priceTexts(retail: Retail, { texts }: { readonly texts: Texts }): PriceTexts {
  switch (retail.type) {
    case 'FIXED':
      return { type: 'FIXED', usdc: usdcText(retail.cents), usd: usdText(retail.cents) }
    case 'RANGE': {
      const { lowest: least, highest: most } = retail
      const { numbers } = texts.offers
      return {
        type: 'RANGE',
        minUsdc: usdcText(least),
        maxUsdc: usdcText(most),
        minUsd: usdText(least),
        maxUsd: usdText(most),
        minValue: amountText(retail.min, 'USD', 100, numbers),
        maxValue: amountText(retail.max, 'USD', 100, numbers),
        step: amountText(retail.increment, 'USD', 100, numbers),
      }
    }
    case 'NOT_SOLD':
      return { type: 'NOT_SOLD', reason: retail.reason }
  }
}

/** The price in one glance, for lists: "25.00 USDC", "from 5.00 USDC". */
export function shortPrice(price: PriceTexts, { offers }: Texts): string {
  switch (price.type) {
    case 'FIXED':
      return offers.price(price.usdc)
    case 'RANGE':
      return offers.priceFrom(price.minUsdc)
    case 'NOT_SOLD':
      return offers.notSold
  }
}

/** "$25", "€10.50", "¥1,000", "KWD 3.075", or "$5 to $100". */
export function moneyText(money: MoneyRange, { offers }: Texts): string {
  const text = (minor: number) => amountText(minor, money.currency, money.divisor, offers.numbers)
  return money.type === 'FIXED' ? text(money.fixed) : offers.range(text(money.min), text(money.max))
}

/** What a card or a line receives: "€10", "about €21.50". */
export function faceText({ currency, divisor, amount, isExact }: FaceValue, { offers }: Texts) {
  const money = amountText(amount, currency, divisor, offers.numbers)
  return isExact ? money : offers.about(money)
}

/** Minor units with the divisor that was sent with them, which may differ from the usual one. */
export function amountText(
  minor: number,
  currency: string,
  divisor: number,
  numbers: string,
): string {
  const decimals = Math.round(Math.log10(divisor))
  return formatOf(numbers, currency, decimals).format(minor / divisor)
}

/** Making one takes longer than a search; there are as many as currencies on sale. */
const formats = new Map<string, Intl.NumberFormat>()

function formatOf(numbers: string, currency: string, decimals: number): Intl.NumberFormat {
  const name = `${numbers} ${currency} ${decimals}`
  const known = formats.get(name)
  if (known !== undefined) return known
  const format = new Intl.NumberFormat(numbers, {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    trailingZeroDisplay: 'stripIfInteger',
  })
  formats.set(name, format)
  return format
}

function usdcText(cents: Cents): string {
  return formatUsdc(usdcFromCents(cents))
}

function usdText(cents: Cents): string {
  return (cents / 100).toFixed(2)
}
