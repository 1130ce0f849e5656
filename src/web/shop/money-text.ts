import type { FaceValue } from '../../catalog/face-value.ts'
import type { MoneyRange } from '../../catalog/offer.ts'
import type { Retail } from '../../catalog/pricing.ts'
import { type Cents, formatUsdc, usdcFromCents } from '../../lib/money.ts'
import type { Coin } from '../../payments/coins.ts'
import type { Texts } from '../texts/texts.ts'

/** A price as text. Prices are plain numbers, "25.00"; one USDC counts as one dollar. */
export type PriceTexts =
  | { readonly type: 'FIXED'; readonly usdc: string }
  | {
      readonly type: 'RANGE'
      /** The prices of the least and the greatest value. */
      readonly minUsdc: string
      readonly maxUsdc: string
      /** The values that the buyer may choose: from "$5" to "$100" in steps of "$1". */
      readonly minValue: string
      readonly maxValue: string
      readonly step: string
    }
  | { readonly type: 'NOT_SOLD'; readonly reason: string }

export function priceTexts(retail: Retail, t: Texts): PriceTexts {
  const { type } = retail
  if (type === 'NOT_SOLD') return { type, reason: t(`offers.unavailable.${retail.code}`) }
  if (type === 'FIXED') return { type, usdc: usdcText(retail.cents) }
  return {
    type,
    minUsdc: usdcText(retail.lowest),
    maxUsdc: usdcText(retail.highest),
    minValue: dollars(retail.min / 100, t),
    maxValue: dollars(retail.max / 100, t),
    step: dollars(retail.increment / 100, t),
  }
}

function usdcText(cents: Cents): string {
  return formatUsdc(usdcFromCents(cents))
}

export function shortPrice(price: PriceTexts, t: Texts): string {
  if (price.type === 'NOT_SOLD') return t('offers.notSold')
  if (price.type === 'FIXED') return t('offers.price', { usdc: price.usdc })
  return t('offers.priceFrom', { usdc: price.minUsdc })
}

/** "$25", "€10.50", "¥1,000", "KWD 3.075", or "$5 to $100". */
export function moneyText(money: MoneyRange, t: Texts): string {
  const text = (minor: number) => amountText(minor, money.currency, money.divisor, t.language)
  return money.type === 'FIXED'
    ? text(money.fixed)
    : t('offers.range', { least: text(money.min), most: text(money.max) })
}

/** What a card or a line receives: "€10", "about €21.50". */
export function faceText({ currency, divisor, amount, isExact }: FaceValue, t: Texts) {
  const money = amountText(amount, currency, divisor, t.language)
  return isExact ? money : t('offers.about', { money })
}

/** "$25", "$12.50". */
export function dollars(amount: number, { language }: Texts): string {
  return amountText(Math.round(amount * 100), 'USD', 100, language)
}

/** Formatters are expensive to make, and there are few. */
const formats = new Map<string, Intl.NumberFormat>()

/** An amount in minor units, with the supplier's divisor, which may differ from that of ISO 4217. */
export function amountText(
  minor: number,
  currency: string,
  divisor: number,
  language: string,
): string {
  const name = `${language} ${currency} ${divisor}`
  const format = formats.get(name) ?? formatOf(currency, divisor, language)
  formats.set(name, format)
  return format.format(minor / divisor)
}

function formatOf(currency: string, divisor: number, language: string): Intl.NumberFormat {
  const decimals = Math.round(Math.log10(divisor))
  return new Intl.NumberFormat(language, {
    style: 'currency',
    currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
    trailingZeroDisplay: 'stripIfInteger',
  })
}

export const coinNames: Readonly<Record<Coin, string>> = {
  BTC: 'Bitcoin',
  ETH: 'Ether',
  USDT: 'Tether',
  LTC: 'Litecoin',
  XMR: 'Monero',
}

const names: Readonly<Record<string, string>> = coinNames

/** "USDT on Tron"; but only "BTC", because its network has the same name. */
export function coinOn(coin: string, network: string, t: Texts): string {
  return names[coin] === network ? coin : t('offers.coinOn', { coin, network })
}
