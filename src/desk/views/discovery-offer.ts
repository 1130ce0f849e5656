import type { MoneyRange, Offer } from '../../goods/offer.ts'
import { withMarkup } from '../../goods/pricing.ts'

/** MoneyLike, always as an object (decisions 1): integers in minor units. */
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

/** An offer as the discovery interface shows it: the fields of service.md and no others. */
export function discoveryOffer(offer: Offer, deps: OfferViewDeps): Published {
  const shared = {
    offerId: offer.id,
    brand: offer.brand,
    country: offer.country,
    regions: offer.regions,
    subTypes: offer.subTypes,
    price: priceOf(offer, deps.markupBps),
    buy_url: `${deps.siteUrl}/buy/${encodeURIComponent(offer.id)}`,
  }
  return { ...shared, ...ownFieldsOf(offer) }
}

/** The supplier's price with the operator's markup, in its own currency, rounded up. */
function priceOf({ price }: Offer, markupBps: number): PublishedMoney {
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
