import type { MoneyRange, Offer } from '../../catalog/offer.ts'
import { type Retail, withMarkup } from '../../catalog/pricing.ts'

/** A price as published: always an object, with integers in minor units (docs/decisions/003). */
export interface PublishedMoney {
  readonly currency: string
  readonly currencyDivisor: number
  readonly fixed?: number
  readonly min?: number
  readonly max?: number
}

/** A record as it is published. A field that is undefined is absent from the JSON. */
export type Published = Readonly<Record<string, unknown>>

export interface OfferViewDeps {
  readonly siteUrl: string
  readonly markupBps: number
}

/** An offer as the discovery interface shows it: the published fields and no others. */
export function discoveryOffer(offer: Offer, retail: Retail, deps: OfferViewDeps): Published {
  const shared = {
    offerId: offer.id,
    brand: offer.brand,
    country: offer.country,
    regions: offer.regions,
    subTypes: offer.subTypes,
    price: priceOf(offer, retail, deps.markupBps),
    buy_url: `${deps.siteUrl}/buy/${encodeURIComponent(offer.id)}`,
  }
  return { ...shared, ...ownFieldsOf(offer) }
}

/**
 * What is asked, to the cent, where the supplier's price is in dollars or is not what decides. Another
 * price is shown in its own currency, with the markup. An open price is the values that may be chosen.
 */
function priceOf({ price }: Offer, retail: Retail, markupBps: number): PublishedMoney {
  const dollars = { currency: 'USD', currencyDivisor: 100 }
  if (retail.type === 'RANGE') return { ...dollars, min: retail.min, max: retail.max }
  const isAsked = price.currency === 'USD' || (retail.type === 'FIXED' && retail.by === 'cost')
  if (retail.type === 'FIXED' && isAsked) return { ...dollars, fixed: retail.cents }
  return moneyOf(price, (minor) => withMarkup(minor, markupBps))
}

/** Money as it is published, each amount changed by `change`. */
export function moneyOf(
  money: MoneyRange,
  change: (minor: number) => number = (minor) => minor,
): PublishedMoney {
  const { currency, divisor } = money
  const unit = { currency, currencyDivisor: divisor }
  return money.type === 'FIXED'
    ? { ...unit, fixed: change(money.fixed) }
    : { ...unit, min: change(money.min), max: change(money.max) }
}

function ownFieldsOf(offer: Offer): Published {
  switch (offer.kind) {
    case 'voucher': {
      const { brandName, description, shortNotes, productType, image } = offer
      return { brandName, description, shortNotes, productType, image }
    }
    case 'topup': {
      const { brandName, allowance } = offer
      const { dataGb, dataUnlimited, durationDays, voiceMinutes, smsNumber } = allowance
      return { brandName, dataGb, dataUnlimited, durationDays, voiceMinutes, smsNumber }
    }
    case 'esim': {
      const { dataGb, dataUnlimited, durationDays } = offer.allowance
      return { dataGb, dataUnlimited, durationDays, shortNotes: offer.shortNotes }
    }
  }
}
